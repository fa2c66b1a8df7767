r"""Words of the languages that readers read, for changes that mean something. Blanks separate them; \x20 is one."""


def _words(text):
    return tuple(word.encode().decode("unicode_escape").encode("latin-1") for word in text.split())


JSON = _words(r"""
"version" "partitions" "topic_id" "adding_replicas" "removing_replicas" "leader" "leader_epoch" "isr" "brokerid" "endpoints"
"controller_epoch" "leader_recovery_state" "host" "port" "rack" "timestamp" "config" "acls" "topic" "principal" "permissionType"
"listener_security_protocol_map" "kraftControllerEpoch" "kraft_metadata_offset" "operation" "replicas" "partition" "id"
{ } [ ] : , null true -1 9223372036854775808 1e999 NaN \\ud800 ://
""")
REPORT = _words(r"""
"schema_version" "cluster" "cluster_id" "snapshot_id" "started_at" "finished_at" "coverage" "asked" "answered" "unknown" "counts"
"lifecycle_counts" "incidents" "findings" "changes" "matrix" "observers" "brokers" "endpoints" "views" "reach" "evidence"
"resource" "severity" "status" "lifecycle" "confidence" "headline" "fingerprint" "remediation" "commands" "cause" "basis" "lanes"
"results" "FAIL" "PASS" "UNKNOWN" "CRITICAL" "KA302" "measured" "new" "2999-01-01T00:00:00Z" "soon" null true -1 1e999 NaN
9223372036854775808 \\ud800 { } [ ] : ,
""")
PATHS = JSON + _words(r"""
/brokers/ids/ /brokers/ids/99999999999999999999\n /brokers/topics/ /partitions/0/state\n /config/brokers/
/config/brokers/<default>\n \n /config/topics/ /config/users/ /admin/reassign_partitions\n /admin/delete_topics/
/controller\n /controller_epoch\n /cluster/id\n /migration\n /kafka-acl/Topic/
/kafka-acl-extended/prefixed/Topic/ 0\n -1 .. %2F \xc2\xb2
""")
SECURITY = JSON + _words('password :// @ secret= "SCRAM-SHA-256"')
SRVR = _words(
    r"Zookeeper\x20version:\x20 Mode:\x20 Zxid:\x200x Node\x20count:\x20 Latency\x20min/avg/max:\x20 Connections:\x20 \n"
)
SCRAM = _words("r=abc ,s= ,i= v= 4096 131072 e= ,x=")
PROPERTIES = _words(r"""
broker.id= node.id= listeners= advertised.listeners= listener.security.protocol.map= process.roles= log.dirs= zookeeper.connect=
inter.broker.listener.name= security.inter.broker.protocol= controller.listener.names= controller.quorum.voters= super.users=
sasl.jaas.config= listener.name.a.plain.sasl.jaas.config= authorizer.class.name= ssl.principal.mapping.rules= config.providers=
sasl.kerberos.principal.to.local.rules= ssl.keystore.location= sasl.enabled.mechanisms= inter.broker.protocol.version=
PLAINTEXT:// SASL_SSL:// ${env:A} \\\n \\u0041 0.0.0.0:9092 , \n \n#\x20kafka-audit:\x20ignore\x20KA308\x20why
""")
NAMES = _words(r"\n [::1] %eth0 _ . .. :: kafka.example.com 10.0.0.1 $(x) ;# ` \x00\x00\x23\x84 \xff \xe2\x80\xa8 \r")
LISTENERS = _words("PLAINTEXT:// SSL:// [::1] :9092 , %eth0 CONTROLLER")
YAML = PROPERTIES + _words(r"""
apiVersion:\x20v1\n kind:\x20ConfigMap\n data:\n \x20\x20server.properties:\x20|\n \x20\x20\x20\x20 -\x20 services:\n
---\n environment:\n
KAFKA_CFG_LISTENERS KAFKA_ADVERTISED_LISTENERS &a\x20 *a <<:\x20 !!binary\x20 {{x}} containers:\n env:\n name:\x20
value:\x20 valueFrom:\x20
image:\x20confluentinc/cp-kafka:7.5.0\n $${A} { [
""")
FILES = PROPERTIES + _words(r"KAFKA_ KAFKA_CFG_ export\x20 =\x22 {{ {% ${")
JAAS = _words(r"org.apache.kafka.common.security.plain.PlainLoginModule \x20required\x20 username=\x22 user_ ; /* // '")
RULES = _words(r"""
RULE: DEFAULT / /L /U $1 [1:$1@$0] s/ /g (.*) ^CN=(.*?),.*$ (a|a)* (.|..)*# \\ (?i) [^,]+ {2,} {1000} \\p{Alpha} (?<n>
(?= \\1 \\Q && *+ \n
""")
CLUSTER = _words(r"""
defaults:\n labels:\x20{env:\x20prod null
clusters:\n \x20\x20prod:\n \x20\x20\x20\x20zookeeper:\x20 bootstrap:\x20[ vantages:\n command:\x20[ limits:\x20{
security:\x20{protocol:\x20SASL_SSL
trusted_hosts:\x20[ mechanism:\x20PLAIN password_env:\x20 mute:\n &a\x20 *a <<:\x20 2027-01-31 {broker_id}
""")
LOGS = _words(r"""
[2026-11-22\x2010:00:00,123]\x20WARN\x20[ Controller\x20id=0,\x20targetBrokerId=1
ReplicaFetcher\x20replicaId=0,\x20leaderId=1 Caused\x20by:\x20
Registered\x20broker\x200\x20at\x20path\x20/brokers/ids/0\x20with\x20addresses:\x20 czxid\x20(broker\x20epoch):\x20
{"@timestamp":"
java.io.IOException Invalid\x20value\x20x\x20for\x20configuration\x20ssl.key.password ://user:secret@host LoginModule \n
password= token Bearer\x20 :\x20 " = ?sig= eyJhbGciOi
""")
SECRETS = _words(r"password :// : @ secret= -----BEGIN Bearer\x20 ?sig= eyJ AKIA \n token .ms")
VANTAGES = _words(r"kafka-audit\t 0\t tcp\tok\t dns\tfailed\t certificate\t \t \n")
TOKENS = JSON + _words(r"""
"access_token" "expires_in" "token_type" "error" "error_description" "invalid_client" "invalid_scope" "unauthorized_client" SECRET
eyJhbGciOiJSUzI1NiJ9. eyJleHAiOjE3fQ. eyJleHAiOiIxZTk5OSIsImF1ZCI6WzFdfQ. eyJpc3MiOnt9LCJzdWIiOltdfQ. .. = - 300 0.5 1e308 ***
""")
