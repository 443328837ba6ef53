#include "deals.hpp"

#include <algorithm>
#include <system_error>

#include "game_bytes.hpp"

namespace cardarena::detail {

namespace {

constexpr std::size_t salt_bytes = 32;
constexpr std::size_t signature_bytes = 64;
/// How long before the deadline an arena may continue without a commitment. The network may have delayed a
/// message, so that is not a lie.
constexpr std::chrono::seconds deadline_tolerance(1);
/// Limits the remembered deal-sets in play, and those that are over.
constexpr std::size_t max_remembered_deals = 4096;
const std::string no_commitment(hash_bytes, '\0');

void warn_not_revealed(Reaction& reaction, const std::string& context) {
  reaction.warnings.push_back("deal-set " + deal_name(context) +
                              ": not revealed, because this process did not commit to it");
}

/// The lie in the first transcript of a deal-set, or empty. It is early if it came before the deadline.
std::string lie_in_transcript(const DealSet& deal, const std::string& commitment, const std::string& seal,
                              bool early) {
  if (commitment.size() != hash_bytes) {
    return "it left out this bot's commitment";
  }
  if (seal.size() != hash_bytes) {
    return "it sent no seal over the commitments";
  }
  if (commitment == deal.commitment()) {
    return "";
  }
  if (commitment != no_commitment) {
    return "it replaced this bot's commitment";
  }
  return early ? "it did not wait for this bot's commitment, or dropped it" : "";
}

std::string value(const ByParticipant& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

/// The lie in the opening of a deal-set, or empty.
std::string lie_in_opening(const DealSet& deal, const Opening& opened) {
  const std::string& name = deal.participant;
  if (opened.secret.size() != hash_bytes ||
      digest("server-commit", {deal.context, opened.secret}) != deal.server_commitment) {
    return "its secret does not match its commitment";
  }
  const std::string salt = value(opened.salts, name);
  if (salt.size() != salt_bytes || view_of(opened.deal, name, salt) != deal.context) {
    return "it opened another deal-set than the one it named to this bot";
  }
  const std::string entropy = value(opened.entropies, name);
  if (deal.shown_commitment.empty()) {
    return entropy.empty() ? "" : "it published entropy that this bot never revealed";
  }
  if (deal.takes_part() && entropy != deal.entropy && (!entropy.empty() || deal.void_reason.empty())) {
    return "it replaced this bot's entropy";
  }
  if (!deal.void_reason.empty()) {
    return "";  // a participant's entropy is missing or wrong, which made the deal-set void
  }
  if (value(opened.commitments, name) != deal.shown_commitment) {
    return "it opened another commitment of this bot than the one in its transcript";
  }
  if (seal_of(deal.context, opened.transcript(), salt) != deal.seal) {
    return "it opened commitments that do not match its seal";
  }
  for (const auto& [each, commitment] : opened.commitments) {
    const std::string added = value(opened.entropies, each);
    if (commitment == no_commitment) {
      if (!added.empty()) {
        return "participant " + each + " added entropy without a commitment";
      }
    } else if (const std::string context = view_of(opened.deal, each, value(opened.salts, each));
               added.size() != hash_bytes || commitment_of(context, each, added) != commitment) {
      return "the entropy of participant " + each + " does not match its commitment";
    }
  }
  return "";
}

/// Forgets the oldest of the remembered contexts.
template <class Container>
void limit(Container& remembered, std::deque<std::string>& oldest_first) {
  if (oldest_first.size() > max_remembered_deals) {
    remembered.erase(oldest_first.front());
    oldest_first.pop_front();
  }
}

}  // namespace

Deals::Deals(std::optional<ReceiptFolder> receipts) : receipts_(std::move(receipts)) {}

void Deals::on_stream() { announced_.clear(); }

Reaction Deals::on_open(const v1::DealOpen& message, Clock::time_point now) {
  Reaction reaction;
  const std::string& context = message.context();
  const std::string& prior = message.commitment();
  if (context.size() != hash_bytes || message.server_commitment().size() != hash_bytes) {
    reaction.warnings.emplace_back("ignored a fair deal: its context or commitment does not have 32 bytes");
    return reaction;
  }
  DealSet* deal = find(context, message.participant());
  if (closed_.contains(context)) {
    lie(reaction, context, "it reopened a deal-set whose packs are public");
    return reaction;
  }
  if (deal == nullptr) {
    DealSet made;
    made.context = context;
    made.server_commitment = message.server_commitment();
    made.participant = message.participant();
    made.public_key = message.public_key();
    made.prior_commitment = prior;
    if (prior.empty()) {
      made.entropy = random_bytes(hash_bytes);
    }
    deal = &remember(std::move(made));
    store(reaction, *deal);
  } else if (deal->server_commitment != message.server_commitment() ||
             deal->participant != message.participant() || deal->public_key != message.public_key()) {
    deal->refused = true;
    lie(reaction, context, "it sent two different commitments");
    return reaction;
  }
  if (!prior.empty() && prior != no_commitment && prior != deal->commitment()) {
    deal->refused = true;
    lie(reaction, context, "it replaced this bot's commitment");
    return reaction;
  }
  if (!prior.empty()) {
    return reaction;  // the arena has the commitment, or the deadline is over
  }
  deal->due = now + std::chrono::milliseconds(message.deadline_ms());
  auto& commit = *reaction.send.emplace_back().mutable_deal_commit();
  commit.set_context(context);
  commit.set_commitment(deal->commitment());
  return reaction;
}

Reaction Deals::on_transcript(const v1::DealTranscript& message, Clock::time_point now) {
  Reaction reaction;
  const std::string& context = message.context();
  DealSet* deal = find(context, "");
  if (deal == nullptr) {
    if (!closed_.contains(context)) {
      warn_not_revealed(reaction, context);
    }
    return reaction;
  }
  std::string found;
  if (deal->shown_commitment.empty()) {
    const bool early = now < deal->due - deadline_tolerance;
    found = lie_in_transcript(*deal, message.commitment(), message.seal(), early);
    if (found.empty()) {
      deal->shown_commitment = message.commitment();
      deal->seal = message.seal();
      deal->signature = message.signature();
    }
  } else if (message.commitment() != deal->shown_commitment || message.seal() != deal->seal) {
    found = "it sent a second transcript that differs from the first";
  }
  if (!found.empty()) {
    deal->refused = true;
    lie(reaction, context, found + "; this bot does not reveal its entropy");
  } else if (!deal->public_key.empty() && deal->signature.size() != signature_bytes) {
    // The bot reveals all the same: not to reveal would lose it the deal-set.
    lie(reaction, context, "it has a key, but did not sign the transcript");
  }
  store(reaction, *deal);
  if (deal->entropy.empty() && deal->commitment() != no_commitment) {
    warn_not_revealed(reaction, context);
  }
  if (deal->takes_part() && !deal->refused) {
    auto& reveal = *reaction.send.emplace_back().mutable_deal_reveal();
    reveal.set_context(context);
    reveal.set_entropy(deal->entropy);
  }
  return reaction;
}

Reaction Deals::on_close(const v1::DealClose& message) {
  Reaction reaction;
  const std::string& context = message.context();
  DealSet* deal = find(context, "");
  if (deal == nullptr) {
    return reaction;
  }
  Opening opened{message.deal(), message.secret(), {}, {}, {}};
  std::vector<std::string> names;
  for (const auto& each : message.entropies()) {
    names.push_back(each.participant());
    opened.commitments[each.participant()] = each.commitment();
    opened.entropies[each.participant()] = each.entropy();
    opened.salts[each.participant()] = each.salt();
  }
  deal->opening = opened;
  deal->void_reason = message.void_reason();
  const bool in_order = std::adjacent_find(names.begin(), names.end(), std::greater_equal<>()) == names.end();
  if (!in_order) {
    lie(reaction, context, "it opened participants out of order, or one of them twice");
  } else if (const std::string found = lie_in_opening(*deal, opened); !found.empty()) {
    lie(reaction, context, found);
  }
  if (!deal->void_reason.empty()) {
    reaction.warnings.push_back("deal-set " + deal_name(context) + " is void: " + deal->void_reason);
  } else if (!deal->takes_part()) {
    reaction.warnings.push_back("deal-set " + deal_name(context) + " was dealt without this bot's entropy");
  }
  if (deal->void_reason.empty()) {
    for (const auto match : announced_) {
      if (contexts_[match] == context) {
        lie(reaction, context,
            "it published the packs while match " + std::to_string(match) + " was played with them");
        break;
      }
    }
  }
  store(reaction, *deal);
  open_.erase(context);
  close(context);
  return reaction;
}

Reaction Deals::on_match_start(const v1::MatchStart& start) {
  Reaction reaction;
  const std::string& context = start.deal_context();
  if (context.empty()) {
    return reaction;
  }
  contexts_[start.match()] = context;
  announced_.insert(start.match());
  if (closed_.contains(context)) {
    lie(reaction, context,
        "it started match " + std::to_string(start.match()) + " with packs that are public");
  }
  if (DealSet* deal = find(context, ""); deal != nullptr && deal->chain(start.match()) == nullptr) {
    AskChain& chain = deal->chains.emplace_back();
    chain.match_number = start.match();
    chain.game = start.terms().game();
    chain.seat = start.seat();
    chain.match_id = start.match_id();
  }
  return reaction;
}

Reaction Deals::on_ask(const v1::Ask& ask, std::string_view body) {
  Reaction reaction;
  AskChain* chain = chain_of(ask.match());
  if (chain == nullptr || ask.decision() == 0) {
    return reaction;
  }
  const std::string sum = sha256({body});
  const std::uint32_t last = chain->links.empty() ? 0 : chain->links.back().first;
  if (ask.decision() > last) {
    chain->hash = sha256({chain->hash, uint32_bytes(ask.decision()), body});
    chain->last_sha256 = sum;
    chain->links.emplace_back(ask.decision(), to_hex(chain->hash).substr(0, 8));
  } else if (ask.decision() == last && sum != chain->last_sha256) {
    lie(reaction, contexts_[ask.match()],
        "it sent decision " + std::to_string(last) + " of match " + std::to_string(ask.match()) +
            " twice and differently");
  }
  return reaction;
}

Reaction Deals::on_match_end(const v1::MatchEnd& end) {
  Reaction reaction;
  AskChain* chain = chain_of(end.match());
  const auto context = contexts_.find(end.match());
  if (chain != nullptr) {
    if (end.ending() != v1::ENDING_UNSPECIFIED) {
      if (!end.replay_id().empty()) {
        chain->match_id = end.replay_id();
      }
      chain->end_sha256 = sha256({joined(bytes_of_events(end))});
    }
    store(reaction, open_.at(context->second));
  }
  if (context != contexts_.end()) {
    contexts_.erase(context);
  }
  announced_.erase(end.match());
  return reaction;
}

AskChain* Deals::chain_of(std::uint32_t match) {
  const auto context = contexts_.find(match);
  if (context == contexts_.end() || !receipts_) {
    return nullptr;
  }
  const auto deal = open_.find(context->second);
  return deal == open_.end() ? nullptr : deal->second.chain(match);
}

DealSet* Deals::find(const std::string& context, const std::string& participant) {
  if (const auto deal = open_.find(context); deal != open_.end()) {
    return &deal->second;
  }
  if (!receipts_ || closed_.contains(context)) {
    return nullptr;
  }
  auto deal = receipts_->read(context, participant);
  if (!deal) {
    return nullptr;
  }
  if (deal->opening) {
    close(context);
    return nullptr;
  }
  return &remember(*std::move(deal));
}

DealSet& Deals::remember(DealSet deal) {
  const std::string context = deal.context;
  DealSet& kept = open_[context] = std::move(deal);
  open_oldest_first_.push_back(context);
  limit(open_, open_oldest_first_);
  return kept;
}

void Deals::close(const std::string& context) {
  closed_.insert(context);
  closed_oldest_first_.push_back(context);
  limit(closed_, closed_oldest_first_);
}

void Deals::store(Reaction& reaction, const DealSet& deal) const {
  if (!receipts_) {
    return;
  }
  try {
    receipts_->write(deal);
  } catch (const std::system_error& error) {
    reaction.warnings.push_back("cannot store the receipt of deal-set " + deal_name(deal.context) + ": " +
                                error.what());
  }
}

void Deals::lie(Reaction& reaction, const std::string& context, const std::string& what) {
  const std::string line = "the arena LIED about deal-set " + deal_name(context) + ": " + what;
  if (const auto deal = open_.find(context); deal != open_.end()) {
    auto& lies = deal->second.lies;
    if (std::find(lies.begin(), lies.end(), what) == lies.end()) {
      lies.push_back(what);
    }
  }
  if (std::find(lies_.begin(), lies_.end(), line) == lies_.end()) {
    lies_.push_back(line);
    reaction.warnings.push_back(line);
  }
}

}  // namespace cardarena::detail
