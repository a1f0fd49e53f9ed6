import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends lines of standard input: codec, topic, key and value, with tabs between. Those of a codec follow each other. */
class Produce {
  public static void main(String[] arguments) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line = lines.readLine();
    while (line != null) {
      String codec = line.split("\t", 2)[0];
      Map<String, Object> settings = Map.of(
          "bootstrap.servers", arguments[0],
          "compression.type", codec,
          "linger.ms", 50,
          "batch.size", 128 * 1024);
      StringSerializer text = new StringSerializer();
      try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, text, text)) {
        List<Future<?>> sent = new ArrayList<>();
        for (; line != null && line.startsWith(codec + "\t"); line = lines.readLine()) {
          String[] parts = line.split("\t", 4);
          sent.add(producer.send(new ProducerRecord<>(parts[1], parts[2], parts[3])));
        }
        for (Future<?> each : sent) each.get();
      }
    }
  }
}
