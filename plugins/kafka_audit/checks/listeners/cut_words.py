"""How KA302 is put into words: who cannot reach whom, why it is thought so, and what would be needed to know."""

WORDED = """
        worded AS (
            SELECT *, array_join(sides, ', ') AS from_text,
                   if(size(sides) = 1 AND get(sides, 0) <=> controller_id, concat('controller ', controller_id),
                      concat(if(size(sides) = 1, 'broker ', 'brokers '), array_join(sides, ', '))) AS who,
                   CASE verdict WHEN 'inferred' THEN 'most likely cannot' WHEN 'suspected' THEN 'possibly cannot'
                        ELSE 'cannot' END AS cannot,
                   CASE WHEN view_status = 'FAIL' AND empty
                            THEN concat('broker ', broker_id, ' lists no broker and no controller')
                        WHEN view_status = 'FAIL' THEN concat('broker ', broker_id, ' names leaders that ZooKeeper does not hold')
                        WHEN size(absent) > 0 THEN concat('in the ISR of nothing that broker ', broker_id, ' leads: broker ',
                                                          array_join(absent, ', ')) END AS symptom
            FROM weighed),
        explained AS (
            SELECT *,
                   CASE verdict WHEN 'measured' THEN concat(seen.layer, ' failed with ', coalesce(seen.error, 'no reason'))
                        WHEN 'suspected' THEN concat(symptom, '; not ruled out: ', rivals) ELSE symptom END AS why,
                   CASE verdict WHEN 'no_listener' THEN coalesce(
                            concat('nobody told an address of its listener ', nullif(wanted, '')),
                            'its inter-broker listener is not known')
                        WHEN 'explained' THEN concat(symptom, ', which ', supported, ' explains')
                        WHEN 'moving' THEN 'in motion'
                        WHEN 'measured' THEN coalesce(seen.error, 'no reason')
                        WHEN 'unmeasured' THEN if(size(open) > 0,
                            concat('tcp was measured from broker ', array_join(open, ', '), ' only'),
                            'nothing looks wrong, and nothing was measured') END AS error,
                   CASE verdict WHEN 'no_listener' THEN coalesce(concat('a bootstrap address of listener ', nullif(wanted, '')),
                            'DescribeConfigs on Cluster')
                        WHEN 'explained' THEN 'a vantage with role broker'
                        WHEN 'moving' THEN 'another audit: this was seen once, or the cluster changed between two looks'
                        WHEN 'unmeasured' THEN coalesce(side_needs, if(size(open) = 0, 'a vantage with role broker',
                            concat('a probe from broker ', array_join(unmeasured, ', ')))) END AS needs
            FROM worded)
"""
"""Two steps of a WITH: from `weighed` (the rows of `inter_broker_case` with `verdict` and `sides`) to `explained`."""
