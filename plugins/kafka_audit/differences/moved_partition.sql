-- Partitions whose leader is another than in the previous snapshot; none where there are more than two hundred.
WITH moved AS (
    SELECT snapshot_id, topic, partition, previous_leader AS before, leader AS after,
           row_number() OVER (PARTITION BY snapshot_id ORDER BY topic, partition) AS place
    FROM same_partition
    WHERE leader IS DISTINCT FROM previous_leader),
counted AS (
    SELECT *, count(*) OVER (PARTITION BY snapshot_id) AS total FROM moved WHERE place <= 201)
SELECT snapshot_id, topic, partition, before, after FROM counted WHERE total <= 200
