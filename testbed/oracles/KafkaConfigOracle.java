import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Asks the KafkaConfig of the release on the class path, by reflection: one source for all releases.
 *
 * <p>First it tells one line for each key of the ConfigDef, in Kafka's order, and one with the names of Kafka's own classes that a
 * configuration may name. Then each line of input is a JSON object of properties, and each line of output null where KafkaConfig
 * accepts them, else the message with which it refuses.
 */
public class KafkaConfigOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final PrintStream OUT = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private static final Pattern NAMED = Pattern.compile(
        "(org/apache/kafka|kafka)/.*(Authorizer|Principal\\w*Builder|CallbackHandler|Login|QuotaCallback|EngineFactory|Policy"
            + "|ReplicaSelector|Reporter|Assignor|JwtRetriever|JwtValidator|StatePersister)\\.class");

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err); // whatever Kafka prints is no answer
        define();
        judge();
        OUT.flush();
    }

    private static void judge() throws Exception {
        Method read = Class.forName("kafka.server.KafkaConfig").getMethod("fromProps", Properties.class, boolean.class);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Properties properties = new Properties();
            properties.putAll(JSON.readValue(line, Map.class));
            String told = null;
            try {
                read.invoke(null, properties, false);
            } catch (InvocationTargetException error) {
                told = String.valueOf(error.getCause().getMessage());
            }
            OUT.println(JSON.writeValueAsString(told));
        }
    }

    private static void define() throws Exception {
        Object module = Class.forName("kafka.server.KafkaConfig$").getField("MODULE$").get(null);
        Object definition = held(module, "kafka$server$KafkaConfig$$configDef", "configDef");
        Object none = definition.getClass().getField("NO_DEFAULT_VALUE").get(null);
        for (Object key : ((Map<?, ?>) call(definition, "configKeys")).values()) {
            Map<String, Object> told = new LinkedHashMap<>();
            told.put("name", field(key, "name"));
            told.put("type", field(key, "type").toString());
            Object value = field(key, "defaultValue");
            if (value == none) {
                told.put("required", true);
            } else {
                told.put("default", shown(value));
            }
            Object validator = field(key, "validator");
            if (validator != null) {
                told.put("validator", rule(validator));
            }
            OUT.println(JSON.writeValueAsString(told));
        }
        OUT.println(JSON.writeValueAsString(Map.of("classes", classes())));
    }

    private static Map<String, Object> rule(Object validator) throws Exception {
        Class<?> type = validator.getClass();
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("rule", type.getName().replaceAll(".*[.$](?=\\D)", ""));
        for (Field one : type.getDeclaredFields()) {
            if (Modifier.isStatic(one.getModifiers())) {
                continue;
            }
            Object value = field(validator, one.getName());
            if (value == null || value instanceof Number || value instanceof Boolean || value instanceof Collection) {
                told.put(one.getName(), value);
            } else if (value.getClass().getName().startsWith("org.apache.kafka.common.config.ConfigDef$Valid")) {
                told.put(one.getName(), rule(value));
            }
        }
        if (told.size() == 1) { // what has no fields of its own says what it wants
            boolean silent = validator.toString().startsWith(type.getName() + "@"); // 2.1
            told.put("says", silent ? apiVersions() : validator.toString());
        }
        return told;
    }

    private static String apiVersions() throws Exception {
        Object versions = call(Class.forName("kafka.api.ApiVersion$").getField("MODULE$").get(null), "allVersions");
        return "[" + call(versions, "mkString", ", ") + "]";
    }

    private static Collection<String> classes() throws Exception {
        Collection<String> found = new TreeSet<>();
        for (String jar : System.getProperty("java.class.path").split(":")) {
            if (!jar.matches(".*/kafka[^/]*\\.jar")) {
                continue;
            }
            try (ZipFile file = new ZipFile(jar)) {
                for (ZipEntry entry : new ArrayList<>(file.stream().map(ZipEntry.class::cast).toList())) {
                    if (NAMED.matcher(entry.getName()).matches()) {
                        found.add(entry.getName().replace('/', '.').replaceAll("\\.class$", ""));
                    }
                }
            }
        }
        return found;
    }

    private static Object shown(Object value) throws Exception {
        if (value instanceof Class<?> known) {
            return known.getName();
        }
        return value != null && value.getClass().getName().endsWith("types.Password") ? call(value, "value") : value;
    }

    private static Object call(Object target, String name, String... arguments) throws Exception {
        Class<?>[] types = new Class<?>[arguments.length];
        Arrays.fill(types, String.class);
        Method method = target.getClass().getMethod(name, types);
        method.setAccessible(true);
        return method.invoke(target, (Object[]) arguments);
    }

    private static Object held(Object target, String... names) throws Exception {
        for (Field one : target.getClass().getDeclaredFields()) {
            if (List.of(names).contains(one.getName())) {
                one.setAccessible(true);
                return one.get(target);
            }
        }
        throw new NoSuchFieldException(Arrays.toString(names));
    }

    private static Object field(Object target, String name) throws Exception {
        Field one = target.getClass().getDeclaredField(name);
        one.setAccessible(true);
        return one.get(target);
    }
}
