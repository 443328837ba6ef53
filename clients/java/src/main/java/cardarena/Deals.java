package cardarena;

import cardarena.v1.Ask;
import cardarena.v1.BotMessage;
import cardarena.v1.DealClose;
import cardarena.v1.DealCommit;
import cardarena.v1.DealOpen;
import cardarena.v1.DealReveal;
import cardarena.v1.DealTranscript;
import cardarena.v1.Ending;
import cardarena.v1.Entropy;
import cardarena.v1.MatchEnd;
import cardarena.v1.MatchStart;
import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * All fair deals of a bot, by protocol fd2 of docs/fair-deals.md: it commits, reveals and checks.
 * The session calls it with its lock held.
 */
final class Deals {
  /**
   * What to do about a message of the arena.
   *
   * @param warnings lines for the log
   */
  record Reaction(List<BotMessage> send, List<String> warnings) {
    Reaction() {
      this(new ArrayList<>(), new ArrayList<>());
    }
  }

  /**
   * An arena that continues this long before the deadline without a commitment does not lie: the
   * network may have delayed a message.
   */
  private static final long DEADLINE_TOLERANCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The maximum number of remembered deal-sets in play, and of those that are over. */
  private static final int MAX_REMEMBERED = 4096;

  private static final int LINK_DIGITS = 8;

  private final List<String> lies = new ArrayList<>();
  private final ReceiptFolder receipts;
  private final Supplier<ByteString> drawEntropy;

  /** The deal-sets in play, by context, oldest first. */
  private final Map<ByteString, DealSet> open = new LinkedHashMap<>();

  /** The contexts of deal-sets that are over, oldest first. */
  private final Set<ByteString> closed = new LinkedHashSet<>();

  /** The context of each match in play. */
  private final Map<Integer, ByteString> contexts = new HashMap<>();

  /** The matches that the arena announced on the current stream. */
  private final Set<Integer> announced = new TreeSet<>();

  /**
   * Of a folder and a source of entropy.
   *
   * @param receipts null if the bot stores no receipts
   * @param drawEntropy draws 32 random bytes
   */
  Deals(ReceiptFolder receipts, Supplier<ByteString> drawEntropy) {
    this.receipts = receipts;
    this.drawEntropy = drawEntropy;
  }

  /** What the arena lied about, one sentence each. */
  List<String> lies() {
    return List.copyOf(lies);
  }

  /** Starts a new stream. The arena announces on it which matches are in play. */
  void onStream() {
    announced.clear();
  }

  /** Commits to entropy for a deal-set. */
  Reaction onOpen(DealOpen message, long nowNanos) {
    Reaction reaction = new Reaction();
    ByteString context = message.getContext();
    ByteString commitment = message.getServerCommitment();
    if (context.size() != Hashes.HASH_BYTES || commitment.size() != Hashes.HASH_BYTES) {
      reaction.warnings.add(
          "ignored a fair deal: its context or commitment does not have 32 bytes");
      return reaction;
    }
    DealSet deal = find(context, message.getParticipant());
    if (closed.contains(context)) {
      lie(reaction, context, "it reopened a deal-set whose packs are public");
      return reaction;
    }
    ByteString prior = message.getCommitment();
    if (deal == null) {
      ByteString entropy = prior.isEmpty() ? drawEntropy.get() : ByteString.EMPTY;
      deal =
          new DealSet(
              new DealSet.Setup(
                  context,
                  commitment,
                  message.getParticipant(),
                  message.getPublicKey(),
                  entropy,
                  prior));
      remember(deal);
      store(reaction, deal);
    } else if (!deal.setup.serverCommitment().equals(commitment)
        || !deal.setup.participant().equals(message.getParticipant())
        || !deal.setup.publicKey().equals(message.getPublicKey())) {
      deal.refused = true;
      lie(reaction, context, "it sent two different commitments");
      return reaction;
    }
    if (!prior.isEmpty()) {
      // The arena has the commitment, or the deadline is over.
      if (!prior.equals(Hashes.NO_COMMITMENT) && !prior.equals(deal.commitment())) {
        deal.refused = true;
        lie(reaction, context, "it replaced this bot's commitment");
      }
      return reaction;
    }
    deal.hasDeadline = true;
    deal.dueNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(message.getDeadlineMs());
    DealCommit commit =
        DealCommit.newBuilder().setContext(context).setCommitment(deal.commitment()).build();
    reaction.send.add(BotMessage.newBuilder().setDealCommit(commit).build());
    return reaction;
  }

  /** Checks the transcript, and reveals the bot's entropy if it is right. */
  Reaction onTranscript(DealTranscript message, long nowNanos) {
    Reaction reaction = new Reaction();
    ByteString context = message.getContext();
    DealSet deal = find(context, "");
    if (deal == null) {
      if (!closed.contains(context)) {
        reaction.warnings.add(notRevealed(context));
      }
      return reaction;
    }
    String lie = "";
    if (deal.shownCommitment.isEmpty()) {
      boolean early = deal.hasDeadline && nowNanos - deal.dueNanos < -DEADLINE_TOLERANCE_NANOS;
      lie = lieInTranscript(deal, message, early);
      if (lie.isEmpty()) {
        deal.shownCommitment = message.getCommitment();
        deal.seal = message.getSeal();
        deal.signature = message.getSignature();
      }
    } else if (!message.getCommitment().equals(deal.shownCommitment)
        || !message.getSeal().equals(deal.seal)) {
      lie = "it sent a second transcript that differs from the first";
    }
    if (!lie.isEmpty()) {
      deal.refused = true;
      lie(reaction, context, lie + "; this bot does not reveal its entropy");
    } else if (!deal.setup.publicKey().isEmpty()
        && deal.signature.size() != Hashes.SIGNATURE_BYTES) {
      // The bot reveals all the same: not to reveal would lose it the deal-set.
      lie(reaction, context, "it has a key, but did not sign the transcript");
    }
    store(reaction, deal);
    if (deal.setup.entropy().isEmpty() && !deal.commitment().equals(Hashes.NO_COMMITMENT)) {
      reaction.warnings.add(notRevealed(context));
    }
    if (deal.takesPart() && !deal.refused) {
      DealReveal reveal =
          DealReveal.newBuilder().setContext(context).setEntropy(deal.setup.entropy()).build();
      reaction.send.add(BotMessage.newBuilder().setDealReveal(reveal).build());
    }
    return reaction;
  }

  private static String notRevealed(ByteString context) {
    return DealSet.name(context) + ": not revealed, because this process did not commit to it";
  }

  /** Checks the opening of a deal-set that is over. */
  Reaction onClose(DealClose message) {
    Reaction reaction = new Reaction();
    ByteString context = message.getContext();
    DealSet deal = find(context, "");
    if (deal == null) {
      return reaction;
    }
    deal.opening = opening(message);
    deal.voidReason = message.getVoidReason();
    List<String> names = message.getEntropiesList().stream().map(Entropy::getParticipant).toList();
    String lie =
        names.equals(List.copyOf(deal.opening.entropies().keySet()))
            ? lieInOpening(deal, deal.opening)
            : "it opened participants out of order, or one of them twice";
    if (!lie.isEmpty()) {
      lie(reaction, context, lie);
    }
    if (!deal.voidReason.isEmpty()) {
      reaction.warnings.add(DealSet.name(context) + " is void: " + deal.voidReason);
    } else {
      if (!deal.takesPart()) {
        reaction.warnings.add(DealSet.name(context) + " was dealt without this bot's entropy");
      }
      announced.stream()
          .filter(match -> context.equals(contexts.get(match)))
          .findFirst()
          .ifPresent(
              match ->
                  lie(
                      reaction,
                      context,
                      "it published the packs while match " + match + " was played with them"));
    }
    store(reaction, deal);
    open.remove(context);
    close(context);
    return reaction;
  }

  private static DealSet.Opening opening(DealClose message) {
    SortedMap<String, ByteString> commitments = Hashes.byParticipant();
    SortedMap<String, ByteString> entropies = Hashes.byParticipant();
    SortedMap<String, ByteString> salts = Hashes.byParticipant();
    for (Entropy each : message.getEntropiesList()) {
      commitments.put(each.getParticipant(), each.getCommitment());
      entropies.put(each.getParticipant(), each.getEntropy());
      salts.put(each.getParticipant(), each.getSalt());
    }
    return new DealSet.Opening(
        message.getDeal(), message.getSecret(), commitments, entropies, salts);
  }

  // The bot's matches.

  Reaction onMatchStart(MatchStart start) {
    Reaction reaction = new Reaction();
    ByteString context = start.getDealContext();
    int match = start.getMatch();
    if (context.isEmpty()) {
      return reaction;
    }
    contexts.put(match, context);
    announced.add(match);
    if (closed.contains(context)) {
      lie(reaction, context, "it started match " + match + " with packs that are public");
    }
    DealSet deal = find(context, "");
    if (deal != null) {
      String game = start.getTerms().getGame();
      deal.chains.putIfAbsent(
          match, new DealSet.AskChain(match, game, start.getSeat(), start.getMatchId()));
    }
    return reaction;
  }

  /** Adds an ask to the chain of its match. */
  Reaction onAsk(Ask ask) {
    Reaction reaction = new Reaction();
    DealSet.AskChain chain = chainOf(ask.getMatch());
    Message body = GameMessages.of(ask);
    if (chain == null || body == null || ask.getDecision() == 0) {
      return reaction;
    }
    ByteString payload = body.toByteString();
    ByteString sum = Hashes.sha256(payload);
    int decision = ask.getDecision();
    int last = chain.links.isEmpty() ? 0 : chain.links.get(chain.links.size() - 1).decision();
    if (Integer.compareUnsigned(decision, last) > 0) {
      chain.hash = Hashes.sha256(chain.hash, Hashes.uint32(decision), payload);
      chain.lastSha256 = sum;
      chain.links.add(new DealSet.ChainLink(decision, Hashes.hex(chain.hash, LINK_DIGITS)));
    } else if (decision == last && !sum.equals(chain.lastSha256)) {
      lie(
          reaction,
          contexts.get(ask.getMatch()),
          "it sent decision " + last + " of match " + ask.getMatch() + " twice and differently");
    }
    return reaction;
  }

  /** Completes the chain of a match with the events that came with its end. */
  Reaction onMatchEnd(MatchEnd end) {
    Reaction reaction = new Reaction();
    DealSet.AskChain chain = chainOf(end.getMatch());
    ByteString context = contexts.remove(end.getMatch());
    announced.remove(end.getMatch());
    if (chain != null) {
      if (end.getEnding() != Ending.ENDING_UNSPECIFIED) {
        chain.matchId = end.getReplayId().isEmpty() ? chain.matchId : end.getReplayId();
        ByteString[] events =
            GameMessages.of(end.getTrailingEventsList()).stream()
                .map(Message::toByteString)
                .toArray(ByteString[]::new);
        chain.endSha256 = Hashes.sha256(Hashes.joined(events));
      }
      store(reaction, open.get(context));
    }
    return reaction;
  }

  /** The chain of a match; null if the bot stores no receipts. */
  private DealSet.AskChain chainOf(int match) {
    DealSet deal = open.get(contexts.get(match));
    return deal == null || receipts == null ? null : deal.chains.get(match);
  }

  /** A deal-set in play, or null. A receipt of an earlier process is loaded first. */
  private DealSet find(ByteString context, String participant) {
    DealSet deal = open.get(context);
    if (deal != null || receipts == null || closed.contains(context)) {
      return deal;
    }
    DealSet stored = receipts.read(context, participant);
    if (stored == null) {
      return null;
    }
    if (stored.opening != null) {
      close(context);
      return null;
    }
    remember(stored);
    return stored;
  }

  private void remember(DealSet deal) {
    open.put(deal.setup.context(), deal);
    if (open.size() > MAX_REMEMBERED) {
      open.remove(open.keySet().iterator().next());
    }
  }

  private void close(ByteString context) {
    closed.add(context);
    if (closed.size() > MAX_REMEMBERED) {
      closed.remove(closed.iterator().next());
    }
  }

  private void store(Reaction reaction, DealSet deal) {
    if (receipts == null) {
      return;
    }
    try {
      receipts.write(deal);
    } catch (IOException error) {
      String name = DealSet.name(deal.setup.context());
      reaction.warnings.add("cannot store the receipt of " + name + ": " + error.getMessage());
    }
  }

  /** Records a lie of the arena, and warns the author if it is new. */
  private void lie(Reaction reaction, ByteString context, String what) {
    String line = "the arena LIED about " + DealSet.name(context) + ": " + what;
    DealSet deal = open.get(context);
    if (deal != null && !deal.lies.contains(what)) {
      deal.lies.add(what);
    }
    if (!lies.contains(line)) {
      lies.add(line);
      reaction.warnings.add(line);
    }
  }

  /**
   * The lie in the first transcript of a deal-set; empty if there is none.
   *
   * @param early whether the transcript came before the deadline
   */
  private static String lieInTranscript(DealSet deal, DealTranscript message, boolean early) {
    if (message.getCommitment().size() != Hashes.HASH_BYTES) {
      return "it left out this bot's commitment";
    }
    if (message.getSeal().size() != Hashes.HASH_BYTES) {
      return "it sent no seal over the commitments";
    }
    if (message.getCommitment().equals(deal.commitment())) {
      return "";
    }
    if (!message.getCommitment().equals(Hashes.NO_COMMITMENT)) {
      return "it replaced this bot's commitment";
    }
    return early ? "it did not wait for this bot's commitment, or dropped it" : "";
  }

  /** The lie in the opening of a deal-set; empty if there is none. */
  private static String lieInOpening(DealSet deal, DealSet.Opening opening) {
    DealSet.Setup setup = deal.setup;
    String name = setup.participant();
    ByteString commitment = Hashes.serverCommitment(setup.context(), opening.secret());
    if (opening.secret().size() != Hashes.HASH_BYTES
        || !commitment.equals(setup.serverCommitment())) {
      return "its secret does not match its commitment";
    }
    ByteString salt = opening.salts().getOrDefault(name, ByteString.EMPTY);
    if (salt.size() != Hashes.SALT_BYTES
        || !Hashes.view(opening.deal(), name, salt).equals(setup.context())) {
      return "it opened another deal-set than the one it named to this bot";
    }
    ByteString entropy = opening.entropies().getOrDefault(name, ByteString.EMPTY);
    if (deal.shownCommitment.isEmpty()) {
      return entropy.isEmpty() ? "" : "it published entropy that this bot never revealed";
    }
    boolean isVoid = !deal.voidReason.isEmpty();
    if (deal.takesPart() && !entropy.equals(setup.entropy()) && !(isVoid && entropy.isEmpty())) {
      return "it replaced this bot's entropy";
    }
    if (isVoid) {
      return ""; // a participant's entropy is missing or wrong, which made the deal-set void
    }
    if (!deal.shownCommitment.equals(opening.commitments().get(name))) {
      return "it opened another commitment of this bot than the one in its transcript";
    }
    if (!Hashes.seal(setup.context(), opening.transcript(), salt).equals(deal.seal)) {
      return "it opened commitments that do not match its seal";
    }
    return lieAboutParticipants(opening);
  }

  private static String lieAboutParticipants(DealSet.Opening opening) {
    for (String name : opening.commitments().keySet()) {
      ByteString commitment = opening.commitments().get(name);
      ByteString entropy = opening.entropies().get(name);
      ByteString context = Hashes.view(opening.deal(), name, opening.salts().get(name));
      if (commitment.equals(Hashes.NO_COMMITMENT)) {
        if (!entropy.isEmpty()) {
          return "participant " + name + " added entropy without a commitment";
        }
      } else if (entropy.size() != Hashes.HASH_BYTES
          || !Hashes.commitment(context, name, entropy).equals(commitment)) {
        return "the entropy of participant " + name + " does not match its commitment";
      }
    }
    return "";
  }
}
