import cardarena.CardArena;
import cardarena.Player;

/** Plays every game: it picks one of the offered moves at random. */
final class RandomBot {
  private RandomBot() {}

  public static void main(String... flags) {
    Player random =
        Player.named("random")
            .bot(match -> ask -> ask.choose(ask.random().nextInt(ask.moves().size())));
    CardArena.main(random, flags);
  }
}
