package cardarena;

import com.google.gson.Gson;
import com.google.gson.JsonSyntaxException;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The result of a match that the engine played on this machine.
 *
 * @param ending completed, forfeit or aborted
 * @param scores points by seat, in the game's unit
 * @param faults those of all seats, in the order in which they happened
 * @param replay the path of the match's replay
 */
public record LocalMatch(String ending, List<Integer> scores, List<Fault> faults, String replay) {
  /**
   * A fault of a seat.
   *
   * @param seat the seat, from 0
   * @param kind the kind of fault, such as illegal, in the engine's words
   * @param reason what was wrong
   */
  public record Fault(int seat, String kind, String reason) {}

  /** This machine has no engine. */
  public static final class NoEngineException extends IOException {
    private static final long serialVersionUID = 1;

    NoEngineException(IOException cause) {
      super(
          "the command \"arena\" of the engine is not in PATH: "
              + "pip install 'cardarena-engine[server]'",
          cause);
    }
  }

  /**
   * Plays a match between programs of this machine, without a server: it runs {@code arena play} of
   * the engine as a child process.
   *
   * @param game the game's id, such as jam
   * @param bots the bots' commands by seat; the engine starts them in the working directory
   * @param flags those of {@code arena play --help}, such as {@code "--seed", "7"}
   * @throws NoEngineException if the engine is not installed
   * @throws IOException if the engine could not play, with what it said
   */
  public static LocalMatch play(String game, List<String> bots, String... flags)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("arena", "play", game));
    command.addAll(bots);
    command.add("--json");
    command.addAll(List.of(flags));
    Path errors = Files.createTempFile("cardarena", ".log");
    try {
      Process engine =
          started(new ProcessBuilder(command).redirectError(Redirect.to(errors.toFile())));
      String told = new String(engine.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      engine.waitFor();
      // The exit code also tells whether a bot failed, after a match that was played.
      LocalMatch played = new Gson().fromJson(told, LocalMatch.class);
      if (played == null) {
        throw new IOException("the engine could not play: " + Files.readString(errors).strip());
      }
      return played;
    } catch (JsonSyntaxException error) {
      throw new IOException("the engine told no result", error);
    } finally {
      Files.delete(errors);
    }
  }

  private static Process started(ProcessBuilder engine) throws NoEngineException {
    try {
      return engine.start();
    } catch (IOException error) {
      throw new NoEngineException(error);
    }
  }
}
