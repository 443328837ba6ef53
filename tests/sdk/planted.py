"""Faults planted in the SDKs of other languages, and the case of the kit that must find each.

One or two for each part of an SDK: session, choices, streams, TLS, deals, and the call of a bot. Other faults are planted in
the SDK for Python alone: `tests/testing/conformance/planted.py`.
"""

# fmt: off
GO = [
    # file          original                                          planted                                 found by
    ("session.go",  "		if seat.ask.open {\n			toSend",       "		if true {\n			toSend",              "C5"),
    ("bot.go",      "	if len(note) <= maxChars {",                  "	if true {",                           "C13"),
    ("redial.go",   "	if !end.welcomed {\n		r.endpoint = r.address\n	}\n", "",                           "C14-fallback"),
    ("dial.go",     '			return "", misconfigured("%s is a plain-text address, but TLS is required", endpoint)', "			d.tls = nil", "C14-plain"),
    ("deals.go",    "	case len(seal) != hashBytes:",                "	case false:",                         "C21-unsealed"),
    ("bot_runner.go", "	if err != nil {\n		if errors.Is(err, context.Canceled)", "	if err != nil {\n		panic(err)\n		if errors.Is(err, context.Canceled)", "C27"),
    ("bot.go",      "Choice: &v1.Answer_Failed{Failed: true}",    "Choice: &v1.Answer_Index{}",           "C27-again"),
]
RUST = [
    # file          original                                        planted                                 found by
    ("session.rs",  "            if last.open {\n                to_send", "            if true {\n                to_send", "C5"),
    ("session.rs",  "    if note.len() <= max_chars || ",           "    if true || ",                      "C13"),
    ("redial.rs",   "            self.endpoint.clone_from(&self.address);\n", "",                           "C14-fallback"),
    ("dial.rs",     "            Some(_) if self.tls.is_some() => {\n", "            Some(_) if self.tls.is_some() => {\n                if self.tls.is_some() { return Ok(address.to_owned()); }\n", "C14-plain"),
    ("deals.rs",    "    if seal.len() != HASH_BYTES {",            "    if seal.len() > HASH_BYTES {",     "C21-unsealed"),
    ("bot_runner.rs", "                    failed_answer(ask_id, &why)\n", '                    panic!("{ask_id} {why}")\n', "C27"),
    ("bot.rs",      "v1::answer::Choice::Failed(true)",            "v1::answer::Choice::Index(0)",         "C27-again"),
]
TYPESCRIPT = [
    # file           original                                         planted                                 found by
    ("session.ts",  "      if (seat.ask?.open) {\n",                      "      if (seat.ask) {\n",               "C5"),
    ("session.ts",  "    if (note.length <= max) {",                  "    if (note) {",                      "C13"),
    ("redial.ts",   "    if (!end.welcomed) {\n      this.#endpoint = this.#address;\n    }\n", "",          "C14-fallback"),
    ("dial.ts",     "      throw new MisconfiguredError(`${endpoint} is a plain-text address, but TLS is required`)", "      Object.assign(security, { tls: undefined })", "C14-plain"),
    ("deals.ts",    "  if (seal.length !== HASH_BYTES) {",            "  if (seal.length < 0) {",             "C21-unsealed"),
    ("bot_runner.ts", "          (error: unknown) => this.#failed(seat, pending, error),\n", "",            "C27"),
    ("bot.ts",      "failed: true, note",                            "index: 0, note",                       "C27-again"),
]
JAVA = [
    # file               original                                          planted                                found by
    ("Session.java",    "        if (seat.ask.open) {\n",                 "        if (true) {\n",                 "C5"),
    ("Choice.java",     "    if (note.codePointCount(0, note.length()) <= maxChars) {", "    if (maxChars > 0) {", "C13"),
    ("Redial.java",     "    if (!end.welcomed) {\n      endpoint = address;\n    }\n", "",                      "C14-fallback"),
    ("Deals.java",      "    if (message.getSeal().size() != Hashes.HASH_BYTES) {", "    if (message.getSeal().size() < 0) {", "C21-unsealed"),
    ("BotRunner.java",  "        answer = logAndFail(ask, error);",    "        System.exit(1);\n        answer = logAndFail(ask, error);", "C27"),
    ("Choice.java",     '.setFailed(true).setNote("error: "',             '.setIndex(0).setNote("error: "',      "C27-again"),
]
CPP = [
    # file           original                                                  planted                                found by
    ("session.cc",   "    if (seat.ask->open) {\n      to_send",                 "    if (true) {\n      to_send",         "C5"),
    ("ask.cc",       "  if (chars <= max_chars) {",                            "  if (max_chars > 0) {",              "C13"),
    ("redial.cc",    "  if (!end.welcomed) {\n    endpoint_ = address_;\n  }\n", "",                                 "C14-fallback"),
    ("dial.cc",      "  const std::string address = target(endpoint);",       "  if (endpoint.starts_with(plain_text_scheme)) {\n    return grpc::CreateChannel(endpoint.substr(plain_text_scheme.size()), grpc::InsecureChannelCredentials());\n  }\n  const std::string address = target(endpoint);", "C14-plain"),
    ("deals.cc",     "  if (seal.size() != hash_bytes) {",                     "  if (seal.size() > hash_bytes) {",   "C21-unsealed"),
    ("bot_runner.cc", "    if (!error.empty()) {\n      answer = log_and_fail", "    if (!error.empty()) {\n      std::abort();\n      answer = log_and_fail", "C27"),
    ("ask.cc",       "  answer.set_failed(true);",                             "  answer.set_index(0);",              "C27-again"),
]
# fmt: on
