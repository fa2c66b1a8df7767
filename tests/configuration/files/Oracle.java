import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.StreamTokenizer;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/** Reads cases from stdin and tells what Java makes of them: properties files, and JAAS texts cut by Java's tokenizer. */
public class Oracle {
    public static void main(String[] arguments) throws IOException {
        DataInputStream in = new DataInputStream(System.in);
        DataOutputStream out = new DataOutputStream(System.out);
        boolean properties = arguments[0].equals("properties");
        for (int left = in.readInt(); left > 0; left--) {
            byte[] data = in.readNBytes(in.readInt());
            if (properties) {
                tell(out, data);
            } else {
                cut(out, new String(data, StandardCharsets.UTF_8));
            }
        }
        out.flush();
    }

    private static void tell(DataOutputStream out, byte[] data) throws IOException {
        Properties found = new Properties();
        try {
            found.load(new ByteArrayInputStream(data));
        } catch (IllegalArgumentException error) {
            out.writeInt(-1);
            return;
        }
        out.writeInt(found.size());
        for (String key : found.stringPropertyNames()) {
            text(out, key);
            text(out, found.getProperty(key));
        }
    }

    /** As org.apache.kafka.common.security.JaasConfig sets its tokenizer up; a token is its type and, where it has one, its text. */
    private static void cut(DataOutputStream out, String jaas) throws IOException {
        StreamTokenizer tokenizer = new StreamTokenizer(new StringReader(jaas));
        tokenizer.slashSlashComments(true);
        tokenizer.slashStarComments(true);
        tokenizer.wordChars('-', '-');
        tokenizer.wordChars('_', '_');
        tokenizer.wordChars('$', '$');
        while (tokenizer.nextToken() != StreamTokenizer.TT_EOF) {
            out.writeInt(tokenizer.ttype);
            text(out, tokenizer.sval == null ? "" : tokenizer.sval);
        }
        out.writeInt(StreamTokenizer.TT_EOF);
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] data = text.getBytes(StandardCharsets.UTF_16BE);
        out.writeInt(data.length);
        out.write(data);
    }
}
