BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('r3');
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	at_unix_ms INTEGER NOT NULL, 
	who TEXT NOT NULL, 
	what TEXT NOT NULL, 
	"before" JSON, 
	"after" JSON, 
	sha256 TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE bots (
	name TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	created TEXT NOT NULL, 
	PRIMARY KEY (name), 
	FOREIGN KEY(name) REFERENCES names (name), 
	FOREIGN KEY(owner) REFERENCES owners (name)
);
CREATE TABLE comparison_requests (
	id INTEGER NOT NULL, 
	owner TEXT NOT NULL, 
	opponent TEXT DEFAULT '' NOT NULL, 
	created_unix_ms INTEGER NOT NULL, 
	"query" JSON NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT DEFAULT '' NOT NULL, 
	core_ms_by_day JSON NOT NULL, 
	margins JSON NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE competition_games (
	id INTEGER NOT NULL, 
	competition INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	terms JSON NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (competition, number), 
	FOREIGN KEY(competition) REFERENCES competitions (id)
);
CREATE TABLE competitions (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	config TEXT NOT NULL, 
	public_config TEXT NOT NULL, 
	config_sha256 TEXT NOT NULL, 
	state TEXT NOT NULL, 
	organiser TEXT NOT NULL, 
	created TEXT NOT NULL, 
	announcement TEXT DEFAULT '' NOT NULL, 
	announced TEXT, 
	waits TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
CREATE TABLE deal_sets (
	competition_game INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	seed TEXT NOT NULL, 
	bots JSON NOT NULL, 
	state VARCHAR(8) DEFAULT 'waiting' NOT NULL, 
	"begin" INTEGER DEFAULT '0' NOT NULL, 
	player TEXT, 
	round INTEGER DEFAULT '0' NOT NULL, 
	shape TEXT DEFAULT 'rotation' NOT NULL, 
	inputs_sha256 TEXT, 
	PRIMARY KEY (competition_game, id), 
	UNIQUE (competition_game, number), 
	FOREIGN KEY(competition_game) REFERENCES competition_games (id), 
	CONSTRAINT known_state CHECK (state IN ('waiting', 'in play', 'complete', 'given up', 'void'))
);
CREATE TABLE entrants (
	competition INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	command TEXT NOT NULL, 
	version TEXT NOT NULL, 
	seed INTEGER NOT NULL, 
	entered_unix_ms INTEGER NOT NULL, 
	out TEXT, 
	out_after JSON, 
	reason TEXT DEFAULT '' NOT NULL, 
	present JSON, 
	away TEXT, 
	games JSON, 
	limited TEXT, 
	PRIMARY KEY (competition, name), 
	FOREIGN KEY(competition) REFERENCES competitions (id)
);
CREATE TABLE failed_begins (
	competition_game INTEGER NOT NULL, 
	deal_set TEXT NOT NULL, 
	"begin" INTEGER NOT NULL, 
	worker TEXT NOT NULL, 
	PRIMARY KEY (competition_game, deal_set, "begin"), 
	FOREIGN KEY(competition_game, deal_set) REFERENCES deal_sets (competition_game, id)
);
CREATE TABLE faults (
	"match" TEXT NOT NULL, 
	seat INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	count INTEGER NOT NULL, 
	PRIMARY KEY ("match", seat, kind), 
	FOREIGN KEY("match") REFERENCES matches (id)
);
CREATE TABLE invitations (
	code_sha256 TEXT NOT NULL, 
	invited_by TEXT NOT NULL, 
	created TEXT NOT NULL, 
	owner TEXT, 
	invited TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	PRIMARY KEY (code_sha256), 
	FOREIGN KEY(owner) REFERENCES owners (name)
);
CREATE TABLE keys (
	id TEXT NOT NULL, 
	token_sha256 TEXT NOT NULL, 
	scope TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	bot TEXT, 
	created TEXT NOT NULL, 
	expires TEXT, 
	revoked TEXT, 
	used TEXT, 
	signed_in_with TEXT, 
	label TEXT NOT NULL, 
	changed INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT known_scope CHECK (scope IN ('bot', 'organiser', 'owner', 'worker')), 
	CONSTRAINT a_bot_has_a_name CHECK ((scope = 'bot') = (bot IS NOT NULL)), 
	UNIQUE (token_sha256), 
	FOREIGN KEY(owner) REFERENCES names (name), 
	FOREIGN KEY(bot) REFERENCES names (name), 
	FOREIGN KEY(signed_in_with) REFERENCES keys (id), 
	UNIQUE (changed)
);
CREATE TABLE match_seats (
	"match" TEXT NOT NULL, 
	seat INTEGER NOT NULL, 
	bot TEXT NOT NULL, 
	PRIMARY KEY ("match", seat), 
	FOREIGN KEY("match") REFERENCES matches (id)
);
CREATE TABLE matches (
	id TEXT NOT NULL, 
	competition_game INTEGER, 
	deal_set TEXT, 
	rotation INTEGER, 
	game TEXT NOT NULL, 
	bots JSON NOT NULL, 
	status TEXT NOT NULL, 
	scores JSON, 
	places JSON, 
	ending TEXT, 
	hands INTEGER, 
	decisions INTEGER, 
	evidence TEXT, 
	journal TEXT, 
	ended_unix_ms INTEGER, 
	published BOOLEAN DEFAULT 0 NOT NULL, 
	forfeited JSON, 
	fallback_share JSON, 
	margin FLOAT, 
	cost INTEGER, 
	costliest_hand INTEGER, 
	worth TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(competition_game, deal_set) REFERENCES deal_sets (competition_game, id), 
	UNIQUE (competition_game, deal_set, rotation), 
	CONSTRAINT known_status CHECK (status IN ('planned', 'finished', 'aborted'))
);
CREATE TABLE names (
	skeleton TEXT NOT NULL, 
	name TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	PRIMARY KEY (skeleton), 
	UNIQUE (name), 
	FOREIGN KEY(owner) REFERENCES names (name)
);
CREATE TABLE official_standings (
	competition INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	record TEXT NOT NULL, 
	inputs_sha256 TEXT NOT NULL, 
	public_key TEXT NOT NULL, 
	signature TEXT NOT NULL, 
	at_unix_ms INTEGER NOT NULL, 
	PRIMARY KEY (competition, number), 
	FOREIGN KEY(competition) REFERENCES competitions (id)
);
CREATE TABLE owners (
	name TEXT NOT NULL, 
	invited_by TEXT NOT NULL, 
	created TEXT NOT NULL, 
	banned TEXT, 
	PRIMARY KEY (name), 
	FOREIGN KEY(name) REFERENCES names (name)
);
CREATE TABLE pairings (
	competition_game INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	members JSON NOT NULL, 
	bye BOOLEAN NOT NULL, 
	PRIMARY KEY (competition_game, round, place), 
	FOREIGN KEY(competition_game, round) REFERENCES rounds (competition_game, number)
);
CREATE TABLE reports (
	bot TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	made_unix_ms INTEGER NOT NULL, 
	report JSON NOT NULL, 
	PRIMARY KEY (bot, number), 
	FOREIGN KEY(bot, number) REFERENCES versions (bot, number)
);
CREATE TABLE rounds (
	competition_game INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	inputs_sha256 TEXT NOT NULL, 
	PRIMARY KEY (competition_game, number), 
	FOREIGN KEY(competition_game) REFERENCES competition_games (id)
);
CREATE TABLE spot_checks (
	id INTEGER NOT NULL, 
	"match" TEXT NOT NULL, 
	worker TEXT NOT NULL, 
	checker TEXT NOT NULL, 
	scores JSON NOT NULL, 
	at_unix_ms INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY("match") REFERENCES matches (id)
);
CREATE TABLE version_events (
	id INTEGER NOT NULL, 
	bot TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	event TEXT NOT NULL, 
	at_unix_ms INTEGER NOT NULL, 
	who TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(bot, number) REFERENCES versions (bot, number)
);
CREATE TABLE versions (
	bot TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	sha256 TEXT NOT NULL, 
	manifest JSON NOT NULL, 
	runtime_sha256 TEXT NOT NULL, 
	parent INTEGER, 
	PRIMARY KEY (bot, number), 
	UNIQUE (bot, sha256), 
	FOREIGN KEY(bot) REFERENCES bots (name)
);
CREATE INDEX challenges_by_time ON comparison_requests (opponent, created_unix_ms);
CREATE INDEX comparison_requests_of_owner ON comparison_requests (owner, id);
CREATE INDEX deal_sets_by_state ON deal_sets (competition_game, state, number);
CREATE INDEX matches_of_competition_game ON matches (competition_game, ended_unix_ms);
CREATE INDEX matches_worth_watching ON matches (worth, ended_unix_ms);
CREATE INDEX matches_of_hands ON matches (game, hands, ended_unix_ms);
CREATE INDEX matches_by_end ON matches (ended_unix_ms, id);
CREATE INDEX matches_of_bot ON match_seats (bot, "match");
CREATE INDEX spot_checks_of_match ON spot_checks ("match");
CREATE INDEX events_of_version ON version_events (bot, number, id);
COMMIT;
