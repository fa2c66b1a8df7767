import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Fills a cluster with what a line of JSON names, prints «ready», and stays: members of groups and open transactions live as
 * long as standard input is open. Newer group kinds are called by reflection, so that one source runs beside the jars of each release.
 */
public class Population {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long SECONDS = 60;
    private static final long DAY_MS = 86_400_000;
    private static final Duration POLL = Duration.ofMillis(500);
    private static JsonNode spec;

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        spec = JSON.readTree(in.readLine());
        try (Admin admin = Admin.create(client(Map.of()))) {
            List<KafkaFuture<?>> side = new ArrayList<>(List.of(quotas(admin), acls(admin)));
            scramUsers(admin).ifPresent(side::add);
            create(admin, spec.get("topics"));
            done(admin.deleteTopics(texts(spec.get("deleted"))).all());
            records();
            for (KafkaFuture<?> one : side) {
                done(one);
            }
            recreate(admin, spec.get("recreated"));
            finishedTransactions();
            groups(admin);
        }
        CountDownLatch open = new CountDownLatch(2);
        start(() -> transactions(open));
        start(() -> longTransaction(open));
        if (!open.await(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no transaction was opened");
        }
        System.out.println("ready");
        while (in.readLine() != null) { }
        System.exit(0);
    }

    private static Properties client(Map<String, String> more) {
        Properties settings = new Properties();
        settings.putAll(JSON.convertValue(spec.get("client"), new TypeReference<Map<String, String>>() { }));
        settings.put("request.timeout.ms", "60000");
        settings.putAll(more);
        return settings;
    }

    private static <T> T done(KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }

    private static List<String> texts(JsonNode array) {
        List<String> found = new ArrayList<>();
        array.forEach(one -> found.add(one.asText()));
        return found;
    }

    private static void create(Admin admin, JsonNode topics) throws Exception {
        List<NewTopic> wanted = new ArrayList<>();
        for (JsonNode topic : topics) {
            NewTopic made = new NewTopic(topic.get("name").asText(), topic.get("partitions").asInt(), topic.get("replicas").shortValue());
            wanted.add(made.configs(JSON.convertValue(topic.get("settings"), new TypeReference<Map<String, String>>() { })));
        }
        done(admin.createTopics(wanted).all());
    }

    /** Deletes topics and makes them anew, with other ids; with ZooKeeper a deletion goes on after its answer. */
    private static void recreate(Admin admin, JsonNode topics) throws Exception {
        List<String> names = new ArrayList<>();
        topics.forEach(one -> names.add(one.get("name").asText()));
        done(admin.deleteTopics(names).all());
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (true) {
            try {
                create(admin, topics);
                return;
            } catch (ExecutionException error) {
                if (!(error.getCause() instanceof TopicExistsException) || System.nanoTime() > deadline) {
                    throw error;
                }
                // Some may have been made already: what exists by now is deleted again.
                for (String name : names) {
                    try {
                        done(admin.deleteTopics(List.of(name)).all());
                    } catch (ExecutionException gone) {
                        if (!(gone.getCause() instanceof UnknownTopicOrPartitionException)) {
                            throw gone;
                        }
                    }
                }
                Thread.sleep(200);
            }
        }
    }

    private static KafkaFuture<Void> quotas(Admin admin) {
        List<ClientQuotaAlteration> wanted = new ArrayList<>();
        for (JsonNode quota : spec.get("quotas")) {
            Map<String, String> entity = JSON.convertValue(quota.get("entity"), new TypeReference<Map<String, String>>() { });
            List<ClientQuotaAlteration.Op> limits = new ArrayList<>();
            quota.get("limits").fields().forEachRemaining(one ->
                limits.add(new ClientQuotaAlteration.Op(one.getKey(), one.getValue().asDouble())));
            wanted.add(new ClientQuotaAlteration(new ClientQuotaEntity(entity), limits));
        }
        return admin.alterClientQuotas(wanted).all();
    }

    private static KafkaFuture<Void> acls(Admin admin) {
        List<AclBinding> wanted = new ArrayList<>();
        for (JsonNode acl : spec.get("acls")) {
            ResourcePattern pattern = new ResourcePattern(ResourceType.fromString(constant(acl.get(0))), acl.get(1).asText(),
                PatternType.valueOf(acl.get(2).asText()));
            wanted.add(new AclBinding(pattern, new AccessControlEntry(acl.get(3).asText(), acl.get(4).asText(),
                AclOperation.fromString(constant(acl.get(5))), AclPermissionType.fromString(constant(acl.get(6))))));
        }
        return wanted.isEmpty() ? KafkaFuture.completedFuture(null) : admin.createAcls(wanted).all();
    }

    private static String constant(JsonNode name) {
        return name.asText().replaceAll("(?<=[a-z])(?=[A-Z])", "_").toUpperCase();
    }

    private static Optional<KafkaFuture<Void>> scramUsers(Admin admin) {
        List<org.apache.kafka.clients.admin.UserScramCredentialAlteration> wanted = new ArrayList<>();
        spec.get("scram_users").forEach(user -> wanted.add(new UserScramCredentialUpsertion(user.asText(),
            new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), UUID.randomUUID().toString())));
        return wanted.isEmpty() ? Optional.empty() : Optional.of(admin.alterUserScramCredentials(wanted).all());
    }

    private static KafkaProducer<String, String> producer(Map<String, String> more) {
        return new KafkaProducer<>(client(more), new StringSerializer(), new StringSerializer());
    }

    private static void records() throws Exception {
        try (KafkaProducer<String, String> producer = producer(Map.of("acks", "all", "compression.type", "gzip", "linger.ms", "20"))) {
            List<java.util.concurrent.Future<?>> sent = new ArrayList<>();
            for (JsonNode topic : spec.get("written")) {
                for (int number = 0; number < 20; number++) {
                    // Old ones, as of a migration, and one without a value, as in compacted topics.
                    long then = System.currentTimeMillis() - (20 - number) * DAY_MS;
                    String value = number == 7 ? null : "value " + number;
                    sent.add(producer.send(new ProducerRecord<>(topic.asText(), null, then, "key " + number % 5, value)));
                }
            }
            for (java.util.concurrent.Future<?> one : sent) {
                one.get(SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static KafkaProducer<String, String> transactional(String id, String timeoutMs) {
        KafkaProducer<String, String> producer = producer(Map.of("transactional.id", id, "transaction.timeout.ms", timeoutMs));
        producer.initTransactions();
        return producer;
    }

    /** Sends records of an age that is given: exactly-once replays send old ones. */
    private static void replay(KafkaProducer<String, String> producer, String topic) {
        long then = System.currentTimeMillis() - spec.get("replayed_age_ms").asLong();
        for (int number = 0; number < 3; number++) {
            producer.send(new ProducerRecord<>(topic, number, then, "key", "value"));
        }
        producer.flush();
    }

    private static void finishedTransactions() {
        for (int number = 0; number < 2; number++) {
            try (KafkaProducer<String, String> producer = transactional("tx-finished-" + number, "60000")) {
                producer.beginTransaction();
                replay(producer, spec.get("replayed").asText());
                if (number % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            }
        }
    }

    /** One short transaction after the other, with offsets of a group, as Kafka Streams and MirrorMaker commit. */
    private static void transactions(CountDownLatch open) throws Exception {
        String topic = spec.get("replayed").asText();
        ConsumerGroupMetadata group = new KafkaConsumer<String, String>(consumer("exactly-once", Map.of())).groupMetadata();
        keepOpen("tx-running", 60_000, 2000, open, producer -> {
            replay(producer, topic);
            long now = System.currentTimeMillis();
            producer.sendOffsetsToTransaction(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(now)), group);
        });
    }

    /** One transaction that stays open, in a topic that nobody else writes to. */
    private static void longTransaction(CountDownLatch open) throws Exception {
        keepOpen("tx-long", 840_000, 780_000, open, producer -> replay(producer, spec.get("quiet").asText()));
    }

    /** One transaction after the other; an application whose producer fails starts another. */
    private static void keepOpen(String id, int timeoutMs, long openMs, CountDownLatch open, Consumer<KafkaProducer<String, String>> fill)
            throws Exception {
        while (true) {
            try (KafkaProducer<String, String> producer = transactional(id, String.valueOf(timeoutMs))) {
                while (true) {
                    producer.beginTransaction();
                    fill.accept(producer);
                    open.countDown();
                    Thread.sleep(openMs);
                    producer.commitTransaction();
                }
            } catch (KafkaException failed) {
                if (open.getCount() > 0) {
                    throw failed;
                }
            }
        }
    }

    private static void groups(Admin admin) throws Exception {
        JsonNode groups = spec.get("groups");
        String topic = spec.get("consumed").asText();
        Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(
            new TopicPartition(topic, 0), new OffsetAndMetadata(1, "note ü"), new TopicPartition(topic, 1), new OffsetAndMetadata(0));
        List<KafkaFuture<?>> committed = new ArrayList<>();
        for (String kind : List.of("empty", "deleted")) {
            texts(groups.get(kind)).forEach(name -> committed.add(admin.alterConsumerGroupOffsets(name, offsets).all()));
        }
        for (KafkaFuture<?> one : committed) {
            done(one);
        }
        done(admin.deleteConsumerGroups(texts(groups.get("deleted"))).all());
        List<String> active = texts(groups.get("active"));
        CountDownLatch joined = new CountDownLatch(active.size() + spec.get("kinds").size());
        active.forEach(name -> start(() -> classic(name, topic, joined)));
        texts(spec.get("kinds")).forEach(kind -> start(() -> member(kind, topic, joined)));
        if (!joined.await(SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException(joined.getCount() + " groups without an assignment");
        }
    }

    private static Properties consumer(String group, Map<String, String> more) {
        Properties settings = client(more);
        settings.put("group.id", group);
        settings.put("key.deserializer", StringDeserializer.class.getName());
        settings.put("value.deserializer", StringDeserializer.class.getName());
        return settings;
    }

    private static void classic(String group, String topic, CountDownLatch joined) {
        read(new KafkaConsumer<>(consumer(group, Map.of("group.instance.id", "worker-1"))), topic, joined);
    }

    private static void read(KafkaConsumer<String, String> consumer, String topic, CountDownLatch joined) {
        consumer.subscribe(List.of(topic));
        boolean told = false;
        while (true) {
            consumer.poll(POLL);
            if (!told && !consumer.assignment().isEmpty()) {
                consumer.commitSync();
                joined.countDown();
                told = true;
            }
        }
    }

    private static void member(String kind, String topic, CountDownLatch joined) throws Exception {
        switch (kind) {
            case "consumer":
                KafkaConsumer<String, String> closed = new KafkaConsumer<>(consumer("modern-empty", Map.of("group.protocol", "consumer")));
                closed.assign(List.of(new TopicPartition(topic, 0)));
                closed.commitSync(Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(1)));
                closed.close();
                read(new KafkaConsumer<>(consumer("modern", Map.of("group.protocol", "consumer"))), topic, joined);
                break;
            case "share":
                share(topic, joined);
                break;
            default:
                streams(topic, joined);
        }
    }

    /** A share group (KIP-932): KafkaShareConsumer, from 4.0 on. */
    private static void share(String topic, CountDownLatch joined) throws Exception {
        Class<?> kind = Class.forName("org.apache.kafka.clients.consumer.KafkaShareConsumer");
        Object consumer = kind.getConstructor(Properties.class).newInstance(consumer("shared", Map.of()));
        Method poll = kind.getMethod("poll", Duration.class);
        kind.getMethod("subscribe", Collection.class).invoke(consumer, List.of(topic));
        for (int number = 0; ; number++) {
            poll.invoke(consumer, POLL);
            if (number == 2) {
                joined.countDown();
            }
        }
    }

    /** A streams group (KIP-1071), by what Kafka Streams itself hands to its consumer; the arguments grew from release to release. */
    private static void streams(String topic, CountDownLatch joined) throws Exception {
        String inside = "org.apache.kafka.clients.consumer.internals.";
        Class<?> data = Class.forName(inside + "StreamsRebalanceData");
        Object subtopology = Class.forName(data.getName() + "$Subtopology").getConstructors()[0]
            .newInstance(Set.of(topic), Set.of(), Map.of(), Map.of(), Set.of());
        Constructor<?> made = data.getConstructors()[0];
        List<Object> arguments = new ArrayList<>(List.of(UUID.randomUUID()));
        boolean topology = false;
        for (Class<?> type : made.getParameterTypes()) {
            if (type == Optional.class) {
                arguments.add(Optional.empty());
            } else if (type == Map.class) {
                arguments.add(topology ? Map.of() : Map.of("0", subtopology));
                topology = true;
            } else if (type == Supplier.class) {
                arguments.add((Supplier<Map<Object, Object>>) HashMap::new);
            }
        }
        Class<?> kind = Class.forName(inside + "AsyncKafkaConsumer");
        Class<?> deserializer = Class.forName("org.apache.kafka.common.serialization.Deserializer");
        Map<String, Object> settings = new HashMap<>();
        consumer("streaming", Map.of("enable.auto.commit", "false")).forEach((key, value) -> settings.put((String) key, value));
        Object consumer = kind.getConstructor(ConsumerConfig.class, deserializer, deserializer, Optional.class).newInstance(
            new ConsumerConfig(settings), new StringDeserializer(), new StringDeserializer(), Optional.of(made.newInstance(arguments.toArray())));
        Class<?> listener = Class.forName(inside + "StreamsRebalanceListener");
        Object silent = Proxy.newProxyInstance(listener.getClassLoader(), new Class<?>[] {listener}, (proxy, method, given) -> null);
        kind.getMethod("subscribe", Collection.class, listener).invoke(consumer, List.of(topic), silent);
        Method poll = kind.getMethod("poll", Duration.class);
        for (int number = 0; ; number++) {
            poll.invoke(consumer, POLL);
            if (number == 2) {
                joined.countDown();
            }
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable error) {
                error.printStackTrace();
                System.exit(1);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
