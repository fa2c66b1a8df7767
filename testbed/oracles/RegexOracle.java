import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Reads a pattern, a replacement and texts (a JSON object a line) and tells what java.util.regex makes of them. */
public class RegexOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(told(JSON.readTree(line))));
        }
        out.flush();
    }

    private static ObjectNode told(JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode();
        Pattern pattern;
        try {
            pattern = Pattern.compile(asked.get("pattern").asText());
        } catch (PatternSyntaxException refused) {
            return answer.put("refused", refused.getDescription());
        }
        ArrayNode texts = answer.putArray("texts");
        for (JsonNode one : asked.get("texts")) {
            texts.add(matched(pattern, one.asText(), asked.get("replacement").asText()));
        }
        return answer;
    }

    private static ObjectNode matched(Pattern pattern, String text, String replacement) {
        try {
            return ended(pattern, text, replacement);
        } catch (Endless endless) {
            return JSON.createObjectNode().put("endless", true);
        }
    }

    private static ObjectNode ended(Pattern pattern, String text, String replacement) {
        ObjectNode answer = JSON.createObjectNode();
        Matcher matcher = pattern.matcher(new Counted(text, new int[1]));
        answer.set("matches", matcher.matches() ? spans(matcher, text) : null);
        matcher.reset();
        ArrayNode found = answer.putArray("find");
        while (matcher.find()) {
            found.add(spans(matcher, text));
        }
        try {
            answer.put("replaced", pattern.matcher(new Counted(text, new int[1])).replaceAll(replacement));
        } catch (IllegalArgumentException | IndexOutOfBoundsException failed) {
            answer.put("replaced", "failed: " + failed.getMessage());
        }
        return answer;
    }

    /** From and to of the match and of each group, in characters and not in their halves. */
    private static ArrayNode spans(Matcher matcher, String text) {
        ArrayNode found = JSON.createArrayNode();
        for (int group = 0; group <= matcher.groupCount(); group++) {
            found.add(place(text, matcher.start(group)));
            found.add(place(text, matcher.end(group)));
        }
        return found;
    }

    private static int place(String text, int unit) {
        return unit < 0 ? -1 : text.codePointCount(0, unit);
    }

    private static class Endless extends RuntimeException {
    }

    /** A text that ends a match which tries every way. */
    private record Counted(String text, int[] read) implements CharSequence {
        private static final int MOST = 2_000_000;

        @Override
        public char charAt(int index) {
            if (++read[0] > MOST) {
                throw new Endless();
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
