import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.security.auth.x500.X500Principal;
import javax.security.sasl.SaslServer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.security.auth.AuthenticationContext;
import org.apache.kafka.common.security.auth.PlaintextAuthenticationContext;
import org.apache.kafka.common.security.auth.SaslAuthenticationContext;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.auth.SslAuthenticationContext;
import org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder;
import org.apache.kafka.common.security.kerberos.KerberosShortNamer;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/** Reads rules and who connects (a JSON object a line) and tells the principals that Kafka's own builder makes of them. */
public class PrincipalOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        org.apache.log4j.Logger.getRootLogger().setLevel(org.apache.log4j.Level.OFF);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(told(JSON.readTree(line))));
        }
        out.flush();
    }

    private static ObjectNode told(JsonNode asked) throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        DefaultKafkaPrincipalBuilder builder;
        try {
            builder = new DefaultKafkaPrincipalBuilder(namer(asked), SslPrincipalMapper.fromRules(asked.get("ssl").textValue()));
        } catch (IllegalArgumentException refused) {
            return answer.put("refused", refused.getMessage());
        }
        ArrayNode names = answer.putArray("names");
        for (JsonNode peer : asked.get("peers")) {
            try {
                names.add(builder.build(context(peer)).toString());
            } catch (KafkaException failed) {
                names.add("failed: " + failed.getCause().getMessage());
            } catch (IllegalArgumentException | IndexOutOfBoundsException failed) {
                names.add("failed: " + failed.getMessage());
            }
        }
        return answer;
    }

    /** The list is cut as the broker's configuration cuts it. */
    private static KerberosShortNamer namer(JsonNode asked) {
        String rules = asked.get("kerberos").textValue();
        List<?> list = rules == null ? null : (List<?>) ConfigDef.parseType("rules", rules, ConfigDef.Type.LIST);
        String[] texts = list == null ? null : list.toArray(new String[0]);
        return KerberosShortNamer.fromUnparsedRules(asked.get("realm").asText(), texts == null ? null : Arrays.asList(texts));
    }

    private static AuthenticationContext context(JsonNode peer) throws Exception {
        InetAddress address = InetAddress.getLoopbackAddress();
        String kind = peer.get(0).asText();
        if (kind.equals("PLAINTEXT")) {
            return new PlaintextAuthenticationContext(address, "LAN");
        }
        if (kind.equals("SSL")) {
            String der = peer.get(1).textValue();
            return new SslAuthenticationContext((SSLSession) proxy(SSLSession.class, name -> {
                if (der == null) {
                    throw new SSLPeerUnverifiedException("no certificate");
                }
                return new X500Principal(Base64.getDecoder().decode(der));
            }), address, "LAN");
        }
        SaslServer server = (SaslServer) proxy(SaslServer.class,
            name -> name.equals("getMechanismName") ? kind : peer.get(1).asText());
        return new SaslAuthenticationContext(server, SecurityProtocol.SASL_PLAINTEXT, address, "LAN");
    }

    private interface Answer {
        Object to(String method) throws Exception;
    }

    private static Object proxy(Class<?> type, Answer answer) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, ignored) -> answer.to(method.getName()));
    }
}
