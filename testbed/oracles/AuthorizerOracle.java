import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;
import org.apache.kafka.server.authorizer.Authorizer;

/** Reads sets of settings, ACLs and requests (a JSON object a line) and tells what the authorizer class of this Kafka answers. */
public class AuthorizerOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";

    public static void main(String[] arguments) throws Exception {
        org.apache.log4j.Logger.getRootLogger().setLevel(org.apache.log4j.Level.OFF);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            JsonNode asked = JSON.readTree(line);
            try {
                Authorizer authorizer = configured(arguments[0], asked.get("settings"));
                load(authorizer, bindings(asked.get("acls")));
                answer.put("allowed", answers(authorizer, asked.get("requests")));
            } catch (IllegalArgumentException refused) {
                answer.put("refused", refused.getMessage());
            }
            out.println(JSON.writeValueAsString(answer));
        }
        out.flush();
    }

    private static Authorizer configured(String name, JsonNode settings) throws Exception {
        Authorizer authorizer = (Authorizer) Class.forName(name).getConstructor().newInstance();
        try {
            authorizer.configure(JSON.convertValue(settings, new TypeReference<Map<String, String>>() { }));
        } catch (ConfigException error) {
            // AclAuthorizer takes its own settings, then wants zookeeper.connect, which is left out so that it connects nowhere.
            if (!error.getMessage().contains("zookeeper.connect")) {
                throw error;
            }
        }
        return authorizer;
    }

    private static List<AclBinding> bindings(JsonNode acls) {
        List<AclBinding> found = new ArrayList<>();
        for (JsonNode acl : acls) {
            ResourcePattern pattern = new ResourcePattern(ResourceType.valueOf(constant(acl.get(0))), acl.get(1).asText(),
                PatternType.valueOf(acl.get(2).asText()));
            found.add(new AclBinding(pattern, new AccessControlEntry(acl.get(3).asText(), acl.get(4).asText(),
                AclOperation.valueOf(constant(acl.get(5))), AclPermissionType.valueOf(acl.get(6).asText()))));
        }
        return found;
    }

    /** SecurityUtils, which does this, is in another package from 4.4 on. */
    private static String constant(JsonNode name) {
        return name.asText().replaceAll("(?<=[a-z])(?=[A-Z])", "_").toUpperCase(java.util.Locale.ROOT);
    }

    private static void load(Authorizer authorizer, List<AclBinding> bindings) throws Exception {
        if (authorizer.getClass().getName().equals(STANDARD)) {
            Class<?> standard = Class.forName("org.apache.kafka.metadata.authorizer.StandardAcl");
            Map<Uuid, Object> acls = new HashMap<>();
            for (AclBinding binding : bindings) {
                acls.put(Uuid.randomUuid(), standard.getMethod("fromAclBinding", AclBinding.class).invoke(null, binding));
            }
            measured(authorizer);
            authorizer.getClass().getMethod("loadSnapshot", Map.class).invoke(authorizer, acls);
            authorizer.getClass().getMethod("completeInitialLoad").invoke(authorizer);
            return;
        }
        Class<?> versioned = Class.forName("kafka.security.authorizer.AclAuthorizer$VersionedAcls");
        Map<ResourcePattern, Set<Object>> entries = new HashMap<>();
        for (AclBinding binding : bindings) {
            Object entry = entryClass().getConstructor(AccessControlEntry.class).newInstance(binding.entry());
            entries.computeIfAbsent(binding.pattern(), one -> new HashSet<>()).add(entry);
        }
        for (Map.Entry<ResourcePattern, Set<Object>> one : entries.entrySet()) {
            scala.collection.immutable.Set<Object> set = scala.jdk.javaapi.CollectionConverters.asScala(one.getValue()).toSet();
            Object acls = versioned.getConstructor(scala.collection.immutable.Set.class, int.class).newInstance(set, 1);
            authorizer.getClass().getMethod("updateCache", ResourcePattern.class, versioned).invoke(authorizer, one.getKey(), acls);
        }
    }

    /** From 4.2 on it counts its answers, and answers nothing where there is nowhere to count. */
    private static void measured(Authorizer authorizer) throws Exception {
        for (Method method : authorizer.getClass().getMethods()) {
            if (method.getName().equals("withPluginMetrics")) {
                Class<?> metrics = Class.forName("org.apache.kafka.common.metrics.internals.PluginMetricsImpl");
                method.invoke(authorizer, metrics.getConstructor(Metrics.class, Map.class).newInstance(new Metrics(), Map.of()));
            }
        }
    }

    private static Class<?> entryClass() throws ClassNotFoundException {
        try {
            return Class.forName("org.apache.kafka.security.authorizer.AclEntry");
        } catch (ClassNotFoundException before3) {
            return Class.forName("kafka.security.authorizer.AclEntry");
        }
    }

    private static String answers(Authorizer authorizer, JsonNode requests) throws Exception {
        StringBuilder told = new StringBuilder();
        for (JsonNode one : requests) {
            ResourcePattern pattern = new ResourcePattern(ResourceType.valueOf(constant(one.get(4))), one.get(5).asText(),
                PatternType.LITERAL);
            Action action = new Action(AclOperation.valueOf(constant(one.get(3))), pattern, 1, true, true);
            KafkaPrincipal principal = new KafkaPrincipal(one.get(0).asText(), one.get(1).asText());
            Context context = new Context(principal, InetAddress.getByName(one.get(2).asText()));
            told.append(authorizer.authorize(context, List.of(action)).get(0) == AuthorizationResult.ALLOWED ? '1' : '0');
        }
        return told.toString();
    }

    private static class Context implements AuthorizableRequestContext {
        private final KafkaPrincipal principal;
        private final InetAddress address;

        Context(KafkaPrincipal principal, InetAddress address) {
            this.principal = principal;
            this.address = address;
        }

        public String listenerName() {
            return "LAN";
        }

        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.SASL_PLAINTEXT;
        }

        public KafkaPrincipal principal() {
            return principal;
        }

        public InetAddress clientAddress() {
            return address;
        }

        public int requestType() {
            return 3;
        }

        public int requestVersion() {
            return 1;
        }

        public String clientId() {
            return "oracle";
        }

        public int correlationId() {
            return 1;
        }
    }
}
