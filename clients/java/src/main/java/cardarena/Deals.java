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
 * All fair deals that a bot takes part in, and checks: protocol fd2 of docs/fair-deals.md. The
 * session calls it under its lock.
 */
final class Deals {
  /** What is to be done about a message of the arena. */
  record Reaction(List<BotMessage> send, List<String> say) {
    Reaction() {
      this(new ArrayList<>(), new ArrayList<>());
    }
  }

  /** How much sooner than the deadline an arena may go on without a commitment. */
  private static final long JITTER_OF_DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** So many in play, and so many that are over. */
  private static final int REMEMBERED_DEALS = 4096;

  private static final int NAME_DIGITS = 12;
  private static final int LINK_DIGITS = 8;

  private final List<String> lies = new ArrayList<>();
  private final Receipts receipts;
  private final Supplier<ByteString> draw;
  private final Map<ByteString, Deal> known = new LinkedHashMap<>();
  private final Set<ByteString> over = new LinkedHashSet<>();

  /** Contexts of matches in play. */
  private final Map<Integer, ByteString> contexts = new HashMap<>();

  /** Of these, the matches that this stream has told of. */
  private final Set<Integer> told = new TreeSet<>();

  /** Of where receipts are kept, null if they are not, and what draws 32 bytes of entropy. */
  Deals(Receipts receipts, Supplier<ByteString> draw) {
    this.receipts = receipts;
    this.draw = draw;
  }

  /** What the arena was caught at, in sentences. */
  List<String> lies() {
    return List.copyOf(lies);
  }

  /** A deal-set in sentences. */
  static String name(ByteString context) {
    return "deal-set " + Hashes.hex(context, NAME_DIGITS);
  }

  /** Another stream begins. What is in play, it will tell. */
  void onStream() {
    told.clear();
  }

  /** Commits, or says why not. */
  Reaction onOpen(DealOpen message, long nowNanos) {
    Reaction reaction = new Reaction();
    ByteString context = message.getContext();
    ByteString commitment = message.getServerCommitment();
    if (context.size() != Hashes.HASH_BYTES || commitment.size() != Hashes.HASH_BYTES) {
      reaction.say.add("took no part in a fair deal that was not named as one");
      return reaction;
    }
    Deal deal = find(context, message.getParticipant());
    if (over.contains(context)) {
      lie(reaction, context, "it opens a deal-set again whose packs are known");
      return reaction;
    }
    ByteString stands = message.getCommitment();
    if (deal == null) {
      ByteString entropy = stands.isEmpty() ? draw.get() : ByteString.EMPTY;
      deal =
          new Deal(
              new Deal.Terms(
                  context,
                  commitment,
                  message.getParticipant(),
                  message.getPublicKey(),
                  entropy,
                  stands));
      remember(deal);
      keep(reaction, deal);
    } else if (!deal.terms.serverCommitment().equals(commitment)
        || !deal.terms.participant().equals(message.getParticipant())
        || !deal.terms.publicKey().equals(message.getPublicKey())) {
      deal.refused = true;
      lie(reaction, context, "it committed itself twice, and differently");
      return reaction;
    }
    if (!stands.isEmpty()) {
      // The arena has it, or it is too late.
      if (!stands.equals(Hashes.NO_COMMITMENT) && !stands.equals(deal.commitment())) {
        deal.refused = true;
        lie(reaction, context, "it replaced this bot's commitment");
      }
      return reaction;
    }
    deal.timed = true;
    deal.dueNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(message.getDeadlineMs());
    DealCommit commit =
        DealCommit.newBuilder().setContext(context).setCommitment(deal.commitment()).build();
    reaction.send.add(BotMessage.newBuilder().setDealCommit(commit).build());
    return reaction;
  }

  /** Reveals, or says why not. */
  Reaction onTranscript(DealTranscript message, long nowNanos) {
    Reaction reaction = new Reaction();
    ByteString context = message.getContext();
    Deal deal = find(context, "");
    if (deal == null) {
      if (!over.contains(context)) {
        reaction.say.add(notRevealed(context));
      }
      return reaction;
    }
    String what = "";
    if (deal.shown.isEmpty()) {
      boolean early = deal.timed && nowNanos - deal.dueNanos < -JITTER_OF_DEADLINE_NANOS;
      what = wrongTranscript(deal, message, early);
      if (what.isEmpty()) {
        deal.shown = message.getCommitment();
        deal.seal = message.getSeal();
        deal.signature = message.getSignature();
      }
    } else if (!message.getCommitment().equals(deal.shown)
        || !message.getSeal().equals(deal.seal)) {
      what = "it shows a second transcript, which differs from the first";
    }
    if (!what.isEmpty()) {
      deal.refused = true;
      lie(reaction, context, what + "; nothing is revealed");
    } else if (!deal.terms.publicKey().isEmpty()
        && deal.signature.size() != Hashes.SIGNATURE_BYTES) {
      // No reason to stay silent: that would cost the bot the deal-set.
      lie(reaction, context, "it has a key, and does not sign what it shows");
    }
    keep(reaction, deal);
    if (deal.terms.entropy().isEmpty() && !deal.commitment().equals(Hashes.NO_COMMITMENT)) {
      reaction.say.add(notRevealed(context));
    }
    if (deal.takesPart() && !deal.refused) {
      DealReveal reveal =
          DealReveal.newBuilder().setContext(context).setEntropy(deal.terms.entropy()).build();
      reaction.send.add(BotMessage.newBuilder().setDealReveal(reveal).build());
    }
    return reaction;
  }

  private static String notRevealed(ByteString context) {
    return name(context) + ": not revealed, as this process had not committed to it";
  }

  /** Checks all that is opened. */
  Reaction onClose(DealClose message) {
    Reaction reaction = new Reaction();
    ByteString context = message.getContext();
    Deal deal = find(context, "");
    if (deal == null) {
      return reaction;
    }
    deal.opened = opening(message);
    deal.voidReason = message.getVoidReason();
    List<String> names = message.getEntropiesList().stream().map(Entropy::getParticipant).toList();
    String what =
        names.equals(List.copyOf(deal.opened.entropies().keySet()))
            ? wrongOpening(deal, deal.opened)
            : "it opens participants out of order, or one twice";
    if (!what.isEmpty()) {
      lie(reaction, context, what);
    }
    if (!deal.voidReason.isEmpty()) {
      reaction.say.add(name(context) + " is void: " + deal.voidReason);
    } else {
      if (!deal.takesPart()) {
        reaction.say.add(name(context) + " was fixed without this bot's entropy");
      }
      told.stream()
          .filter(match -> context.equals(contexts.get(match)))
          .findFirst()
          .ifPresent(
              match ->
                  lie(
                      reaction,
                      context,
                      "it opens the packs while match " + match + " is played with them"));
    }
    keep(reaction, deal);
    known.remove(context);
    finish(context);
    return reaction;
  }

  private static Deal.Opening opening(DealClose message) {
    SortedMap<String, ByteString> commitments = Hashes.byName();
    SortedMap<String, ByteString> entropies = Hashes.byName();
    SortedMap<String, ByteString> salts = Hashes.byName();
    for (Entropy each : message.getEntropiesList()) {
      commitments.put(each.getParticipant(), each.getCommitment());
      entropies.put(each.getParticipant(), each.getEntropy());
      salts.put(each.getParticipant(), each.getSalt());
    }
    return new Deal.Opening(message.getDeal(), message.getSecret(), commitments, entropies, salts);
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
    told.add(match);
    if (over.contains(context)) {
      lie(reaction, context, "it begins match " + match + " with packs that are known");
    }
    Deal deal = find(context, "");
    if (deal != null) {
      String game = start.getTerms().getGame();
      deal.matches.putIfAbsent(
          match, new Deal.Shown(match, game, start.getSeat(), start.getMatchId()));
    }
    return reaction;
  }

  Reaction onAsk(Ask ask) {
    Reaction reaction = new Reaction();
    Deal.Shown shown = shownIn(ask.getMatch());
    Message body = Bodies.of(ask);
    if (shown == null || body == null || ask.getDecision() == 0) {
      return reaction;
    }
    ByteString payload = body.toByteString();
    ByteString sum = Hashes.sha256(payload);
    int decision = ask.getDecision();
    int last = shown.asks.isEmpty() ? 0 : shown.asks.get(shown.asks.size() - 1).decision();
    if (Integer.compareUnsigned(decision, last) > 0) {
      shown.chain = Hashes.sha256(shown.chain, Hashes.uint32(decision), payload);
      shown.last = sum;
      shown.asks.add(new Deal.Link(decision, Hashes.hex(shown.chain, LINK_DIGITS)));
    } else if (decision == last && !sum.equals(shown.last)) {
      lie(
          reaction,
          contexts.get(ask.getMatch()),
          "it asks decision " + last + " of match " + ask.getMatch() + " twice, and differently");
    }
    return reaction;
  }

  Reaction onMatchEnd(MatchEnd end) {
    Reaction reaction = new Reaction();
    Deal.Shown shown = shownIn(end.getMatch());
    ByteString context = contexts.remove(end.getMatch());
    told.remove(end.getMatch());
    if (shown != null) {
      if (end.getEnding() != Ending.ENDING_UNSPECIFIED) {
        shown.matchId = end.getReplayId().isEmpty() ? shown.matchId : end.getReplayId();
        ByteString[] events =
            Bodies.of(end.getTrailingEventsList()).stream()
                .map(Message::toByteString)
                .toArray(ByteString[]::new);
        shown.end = Hashes.sha256(Hashes.joined(events));
      }
      keep(reaction, known.get(context));
    }
    return reaction;
  }

  // Inside.

  /** What is noted of a match, where receipts are kept; null elsewhere. */
  private Deal.Shown shownIn(int match) {
    Deal deal = known.get(contexts.get(match));
    return deal == null || receipts == null ? null : deal.matches.get(match);
  }

  /** A deal that is not closed, from before this process was started too; null if there is none. */
  private Deal find(ByteString context, String participant) {
    Deal deal = known.get(context);
    if (deal != null || receipts == null || over.contains(context)) {
      return deal;
    }
    Deal kept = receipts.recall(context, participant);
    if (kept == null) {
      return null;
    }
    if (kept.opened != null) {
      finish(context);
      return null;
    }
    remember(kept);
    return kept;
  }

  private void remember(Deal deal) {
    known.put(deal.terms.context(), deal);
    if (known.size() > REMEMBERED_DEALS) {
      known.remove(known.keySet().iterator().next());
    }
  }

  private void finish(ByteString context) {
    over.add(context);
    if (over.size() > REMEMBERED_DEALS) {
      over.remove(over.iterator().next());
    }
  }

  private void keep(Reaction reaction, Deal deal) {
    if (receipts == null) {
      return;
    }
    try {
      receipts.keep(deal);
    } catch (IOException error) {
      reaction.say.add(
          "the receipt of " + name(deal.terms.context()) + " is not kept: " + error.getMessage());
    }
  }

  /** Notes a lie of the arena, and says it if it is new. */
  private void lie(Reaction reaction, ByteString context, String what) {
    String line = "the arena LIED about " + name(context) + ": " + what;
    Deal deal = known.get(context);
    if (deal != null && !deal.lies.contains(what)) {
      deal.lies.add(what);
    }
    if (!lies.contains(line)) {
      lies.add(line);
      reaction.say.add(line);
    }
  }

  /**
   * What is wrong with the first transcript that a bot is shown: its own commitment and the seal.
   * It is early before the time to commit was over. Empty if nothing is.
   */
  private static String wrongTranscript(Deal deal, DealTranscript message, boolean early) {
    if (message.getCommitment().size() != Hashes.HASH_BYTES) {
      return "it left this bot's commitment out";
    }
    if (message.getSeal().size() != Hashes.HASH_BYTES) {
      return "it does not bind itself to what it received";
    }
    if (message.getCommitment().equals(deal.commitment())) {
      return "";
    }
    if (!message.getCommitment().equals(Hashes.NO_COMMITMENT)) {
      return "it replaced this bot's commitment";
    }
    return early ? "it did not wait for this bot's commitment, or dropped it" : "";
  }

  /** What is wrong with what the arena opened; empty if nothing is. */
  private static String wrongOpening(Deal deal, Deal.Opening opened) {
    Deal.Terms terms = deal.terms;
    String name = terms.participant();
    ByteString committed = Hashes.serverCommitment(terms.context(), opened.secret());
    if (opened.secret().size() != Hashes.HASH_BYTES
        || !committed.equals(terms.serverCommitment())) {
      return "its secret does not open its commitment";
    }
    ByteString salt = opened.salts().getOrDefault(name, ByteString.EMPTY);
    if (salt.size() != Hashes.SALT_BYTES
        || !Hashes.view(opened.deal(), name, salt).equals(terms.context())) {
      return "it opens another deal-set than it had named to this bot";
    }
    ByteString entropy = opened.entropies().getOrDefault(name, ByteString.EMPTY);
    if (deal.shown.isEmpty()) {
      return entropy.isEmpty() ? "" : "it opens entropy that this bot never revealed";
    }
    boolean isVoid = !deal.voidReason.isEmpty();
    if (deal.takesPart() && !entropy.equals(terms.entropy()) && !(isVoid && entropy.isEmpty())) {
      return "it replaced this bot's entropy";
    }
    if (isVoid) {
      return ""; // somebody's opening is missing or wrong: that is why
    }
    if (!deal.shown.equals(opened.commitments().get(name))) {
      return "it opens another commitment of this bot's than it had shown";
    }
    if (!Hashes.seal(terms.context(), opened.transcript(), salt).equals(deal.seal)) {
      return "it opens other commitments than it had bound itself to";
    }
    return wrongOfOthers(opened);
  }

  private static String wrongOfOthers(Deal.Opening opened) {
    for (String name : opened.commitments().keySet()) {
      ByteString commitment = opened.commitments().get(name);
      ByteString entropy = opened.entropies().get(name);
      ByteString context = Hashes.view(opened.deal(), name, opened.salts().get(name));
      if (commitment.equals(Hashes.NO_COMMITMENT)) {
        if (!entropy.isEmpty()) {
          return "participant " + name + " added entropy without having committed to it";
        }
      } else if (entropy.size() != Hashes.HASH_BYTES
          || !Hashes.commitment(context, name, entropy).equals(commitment)) {
        return "the entropy of participant " + name + " does not open its commitment";
      }
    }
    return "";
  }
}
