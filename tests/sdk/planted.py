"""Faults planted in the SDKs of other languages, and the case of the kit that must find each."""

# fmt: off
GO = [
    # file          original                                          planted                                 found by
    ("session.go",  "seat.ask != nil && seat.ask.ID() == message.GetAskId() {", "false {",                    "C3"),
    ("session.go",  "		if seat.ask.open {\n			toSend",       "		if true {\n			toSend",              "C5"),
    ("session.go",  "		where = fmt.Sprintf",                     "		seat.ask.open = true; s.open[closed.GetAskId()] = seat\n		where = fmt.Sprintf", "C7"),
    ("session.go",  "	s.ended[end.GetMatch()] = true\n",            "",                                     "C8"),
    ("bot.go",      "	if len(note) <= maxChars {",                  "	if true {",                           "C13"),
    ("redial.go",   "	if !end.welcomed {\n		r.endpoint = r.address\n	}\n", "",                           "C14-fallback"),
    ("dial.go",     '			return "", misconfigured("%s is a plain-text address, but TLS is required", endpoint)', "			d.tls = nil", "C14-plain"),
    ("redial.go",   "	return requested + r.jitter",                 "	return 0*requested + r.jitter",       "C17"),
    ("redial.go",   "	codes.Aborted: ",                             "	codes.DataLoss: ",                    "C18"),
    ("deals.go",    "func (d *deals) onStream() {",                   "func (d *deals) onStream() { clear(d.open);", "C19"),
    ("deals.go",    "	case len(seal) != hashBytes:",                "	case false:",                         "C21-unsealed"),
    ("run.go",      "ExitLied        = 3",                            "ExitLied        = 0",                  "C21-wrong-secret"),
    ("deals.go",    "		hash := sha256.Sum256(append(prefix, payload...))", "		hash := sha256.Sum256(append(slices.Clone(chain.hash), payload...)); _ = prefix", "C24"),
    ("dial.go",     "Time: 20 * time.Second",                         "Time: 20 * time.Hour",                 "C25"),
    ("bot_runner.go", "	if err != nil {\n		if errors.Is(err, context.Canceled)", "	if err != nil {\n		panic(err)\n		if errors.Is(err, context.Canceled)", "C27"),
    ("bot.go",      "Choice: &v1.Answer_Failed{Failed: true}",    "Choice: &v1.Answer_Index{}",           "C27-again"),
]
RUST = [
    # file          original                                        planted                                 found by
    ("session.rs",  ".filter(|last| last.ask.id() == ask_id) {",    ".filter(|_| false) {",                 "C3"),
    ("session.rs",  "            if last.open {\n                to_send", "            if true {\n                to_send", "C5"),
    ("session.rs",  "            self.settle(closed.ask_id);\n",    "",                                     "C7"),
    ("session.rs",  "        self.ended.insert(number);\n",         "",                                     "C8"),
    ("session.rs",  "    if note.len() <= max_chars || ",           "    if true || ",                      "C13"),
    ("redial.rs",   "            self.endpoint.clone_from(&self.address);\n", "",                           "C14-fallback"),
    ("dial.rs",     "            Some(_) if self.tls.is_some() => {\n", "            Some(_) if self.tls.is_some() => {\n                if self.tls.is_some() { return Ok(address.to_owned()); }\n", "C14-plain"),
    ("redial.rs",   "        requested + (self.jitter)",            "        requested * 0 + (self.jitter)", "C17"),
    ("redial.rs",   '        Code::Aborted => "',                  '        Code::DataLoss => "',         "C18"),
    ("deals.rs",    "        self.announced.clear();\n",            "        self.announced.clear();\n        self.open.clear();\n", "C19"),
    ("deals.rs",    "    if seal.len() != HASH_BYTES {",            "    if seal.len() > HASH_BYTES {",     "C21-unsealed"),
    ("error.rs",    "            Self::Lied { .. } => 3,",          "            Self::Lied { .. } => 0,",  "C21-wrong-secret"),
    ("deals.rs",    "&decision.to_be_bytes()[..], ",               "",                                     "C24"),
    ("dial.rs",     "PING_INTERVAL: Duration = Duration::from_secs(20)", "PING_INTERVAL: Duration = Duration::from_secs(2000)", "C25"),
    ("bot_runner.rs", "                    failed_answer(ask_id, &why)\n", '                    panic!("{ask_id} {why}")\n', "C27"),
    ("bot.rs",      "v1::answer::Choice::Failed(true)",            "v1::answer::Choice::Index(0)",         "C27-again"),
]
TYPESCRIPT = [
    # file           original                                         planted                                 found by
    ("session.ts",  "seat.ask?.askId === ask.askId) {",               "seat.ask?.askId === ask.askId + 1n) {", "C3"),
    ("session.ts",  "      if (seat.ask?.open) {\n        toSend",    "      if (seat.ask) {\n        toSend", "C5"),
    ("session.ts",  "    if (seat) {\n      this.#settle(seat);\n    }\n    if (closed", "    if (closed",    "C7"),
    ("session.ts",  "    this.#ended.add(end.match);\n",              "",                                     "C8"),
    ("session.ts",  "    if (note.length <= max) {",                  "    if (note) {",                      "C13"),
    ("redial.ts",   "    if (!end.welcomed) {\n      this.#endpoint = this.#address;\n    }\n", "",          "C14-fallback"),
    ("dial.ts",     "      throw new MisconfiguredError(`${endpoint} is a plain-text address, but TLS is required`)", "      Object.assign(security, { tls: undefined })", "C14-plain"),
    ("redial.ts",   "    return requestedMs + this",                  "    return 0 * requestedMs + this",    "C17"),
    ("redial.ts",   "  [status.ABORTED, ",                            "  [status.DATA_LOSS, ",                "C18"),
    ("deals.ts",    "    this.#announced.clear();",                   "    this.#announced.clear();\n    this.#open.clear();", "C19"),
    ("deals.ts",    "  if (seal.length !== HASH_BYTES) {",            "  if (seal.length < 0) {",             "C21-unsealed"),
    ("run.ts",      "lied: 3,",                                       "lied: 0,",                             "C21-wrong-secret"),
    ("deals.ts",    "sha256(chain.hash, uint32(ask.decision), ask.payload)", "sha256(chain.hash, uint32(0), ask.payload)", "C24"),
    ("dial.ts",     '"grpc.keepalive_time_ms": 20_000',               '"grpc.keepalive_time_ms": 2_000_000',  "C25"),
    ("bot_runner.ts", "          (error: unknown) => this.#failed(seat, pending, error),\n", "",            "C27"),
    ("bot.ts",      "failed: true, note",                            "index: 0, note",                       "C27-again"),
]
JAVA = [
    # file               original                                          planted                                found by
    ("Session.java",    "seat.ask != null && seat.ask.id() == id) {",      "seat.ask != null && seat.ask.id() == -id) {", "C3"),
    ("Session.java",    "        if (seat.ask.open) {\n          toSend",  "        if (true) {\n          toSend", "C5"),
    ("Session.java",    "    if (seat != null) {\n      seat.ask.open = false;\n", "    if (seat != null) {\n", "C7"),
    ("Session.java",    "    ended.add(end.getMatch());\n",                "",                                    "C8"),
    ("Choice.java",     "    if (note.codePointCount(0, note.length()) <= maxChars) {", "    if (maxChars > 0) {", "C13"),
    ("Redial.java",     "    if (!end.welcomed) {\n      endpoint = address;\n    }\n", "",                      "C14-fallback"),
    ("Redial.java",     "    return requested.plusNanos(",                 "    return Duration.ZERO.plusNanos(0 * ", "C17"),
    ("Redial.java",     "          Status.Code.ABORTED,",                  "          Status.Code.DATA_LOSS,",    "C18"),
    ("Deals.java",      "    announced.clear();",                          "    announced.clear();\n    open.clear();", "C19"),
    ("Deals.java",      "    if (message.getSeal().size() != Hashes.HASH_BYTES) {", "    if (message.getSeal().size() < 0) {", "C21-unsealed"),
    ("CardArena.java",  "EXIT_LIED = 3;",                                 "EXIT_LIED = 0;",                      "C21-wrong-secret"),
    ("Deals.java",      "Hashes.sha256(chain.hash, Hashes.uint32(decision), payload)", "Hashes.sha256(chain.hash, payload)", "C24"),
    ("Dialer.java",     "PING_INTERVAL_S = 20;",                          "PING_INTERVAL_S = 20_000;",           "C25"),
    ("BotRunner.java",  "        answer = logAndFail(ask, error);",    "        System.exit(1);\n        answer = logAndFail(ask, error);", "C27"),
    ("Choice.java",     '.setFailed(true).setNote("error: "',             '.setIndex(0).setNote("error: "',      "C27-again"),
]
CPP = [
    # file           original                                                  planted                                found by
    ("session.cc",   "seat.ask->message.ask_id() == message.ask_id()) {",      "seat.ask->message.ask_id() == message.ask_id() + 1) {", "C3"),
    ("session.cc",   "    if (seat.ask->open) {\n      to_send",                 "    if (true) {\n      to_send",         "C5"),
    ("session.cc",   "    Seat& seat = seats_.at(match->second);\n    seat.ask->open = false;\n", "    Seat& seat = seats_.at(match->second);\n", "C7"),
    ("session.cc",   "  ended_.insert(message.match());\n",                    "",                                    "C8"),
    ("ask.cc",       "  if (chars <= max_chars) {",                            "  if (max_chars > 0) {",              "C13"),
    ("redial.cc",    "  if (!end.welcomed) {\n    endpoint_ = address_;\n  }\n", "",                                 "C14-fallback"),
    ("dial.cc",      "  const std::string address = target(endpoint);",       "  if (endpoint.starts_with(plain_text_scheme)) {\n    return grpc::CreateChannel(endpoint.substr(plain_text_scheme.size()), grpc::InsecureChannelCredentials());\n  }\n  const std::string address = target(endpoint);", "C14-plain"),
    ("redial.cc",    "  return requested + jitter_(",                          "  return 0 * requested + jitter_(",   "C17"),
    ("redial.cc",    "    {GRPC_STATUS_ABORTED, ",                             "    {GRPC_STATUS_DATA_LOSS, ",         "C18"),
    ("deals.cc",     "void Deals::on_stream() { announced_.clear(); }",        "void Deals::on_stream() { announced_.clear(); open_.clear(); }", "C19"),
    ("deals.cc",     "  if (seal.size() != hash_bytes) {",                     "  if (seal.size() > hash_bytes) {",   "C21-unsealed"),
    ("run.cc",       "      return 3;",                                        "      return 0;",                     "C21-wrong-secret"),
    ("deals.cc",     "sha256({chain->hash, uint32_bytes(ask.decision()), body})", "sha256({chain->hash, body})",      "C24"),
    ("dial.cc",      "ping_interval_ms = 20'000;",                             "ping_interval_ms = 20'000'000;",      "C25"),
    ("bot_runner.cc", "    if (!error.empty()) {\n      answer = log_and_fail", "    if (!error.empty()) {\n      std::abort();\n      answer = log_and_fail", "C27"),
    ("ask.cc",       "  answer.set_failed(true);",                             "  answer.set_index(0);",              "C27-again"),
]
# fmt: on
