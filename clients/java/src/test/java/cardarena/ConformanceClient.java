package cardarena;

import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The client of the conformance kit. clients/conformance/README.md describes its fixed bot. */
public final class ConformanceClient {
  private static final String PAD = Character.toString(0x1F0A1);
  private static final int MISTAKE = 999;
  private static final int SEED = 998;
  private static final int THOUSAND = 1000;

  private ConformanceClient() {}

  private static final class FixedBot implements Bot<Message, Message, Message> {
    private final int sleepMs;
    private int asked;

    FixedBot(int sleepMs) {
      this.sleepMs = sleepMs;
    }

    @Override
    public Choice<Message> move(Ask<Message, Message, Message> ask) throws InterruptedException {
      asked++;
      Thread.sleep(sleepMs);
      if (ask.id() % THOUSAND == MISTAKE) {
        throw new IllegalStateException("the fixed bot's mistake");
      }
      String note = asked + PAD.repeat((int) (ask.id() / THOUSAND));
      if (ask.id() % THOUSAND == SEED) {
        note = HexFormat.of().formatHex(ask.seed(), 0, Integer.BYTES);
      }
      return ask.choose((int) (ask.id() % ask.moves().size())).withNote(note);
    }

    @Override
    public void ended(End end) {
      System.out.println("ended " + end.match().number() + " " + end.ending());
    }
  }

  /** Plays with the fixed bot. */
  public static void main(String... arguments) {
    List<String> flags = new ArrayList<>(List.of(arguments));
    int at = flags.indexOf("--sleep-ms");
    int sleepMs = at < 0 ? 0 : Integer.parseInt(flags.get(at + 1));
    if (at >= 0) {
      flags.subList(at, at + 2).clear();
    }
    Player fixed =
        Player.named("fixed").version("kit").askForced().bot(match -> started(match, sleepMs));
    CardArena.main(fixed, flags.toArray(String[]::new));
  }

  private static FixedBot started(Match match, int sleepMs) {
    System.out.println("started " + match.number());
    return new FixedBot(sleepMs);
  }
}
