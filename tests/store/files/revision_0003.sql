BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0003');
CREATE TABLE deal_sets (
	tournament INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	seed TEXT NOT NULL, 
	bots JSON NOT NULL, 
	PRIMARY KEY (tournament, id), 
	UNIQUE (tournament, number), 
	FOREIGN KEY(tournament) REFERENCES tournaments (id)
);
INSERT INTO "deal_sets" VALUES(1,'05b05ec5c2057e0852e9',1,'7/1','["cy", "bob"]');
INSERT INTO "deal_sets" VALUES(1,'b716931b1cd8c23407b9',2,'7/2','["ann", "cy"]');
INSERT INTO "deal_sets" VALUES(1,'04307c71d74b1bc63cfe',3,'7/3','["bob", "ann"]');
INSERT INTO "deal_sets" VALUES(1,'3a358cbb06de30e4dfc4',4,'7/4','["bob", "cy"]');
INSERT INTO "deal_sets" VALUES(1,'c320c06ebf495282e77f',5,'7/5','["cy", "ann"]');
INSERT INTO "deal_sets" VALUES(1,'f145106fff1b5d873a30',6,'7/6','["ann", "bob"]');
INSERT INTO "deal_sets" VALUES(1,'9819ca4b5292d6b24cce',7,'7/7','["cy", "ann"]');
INSERT INTO "deal_sets" VALUES(1,'dc1a6dc49fb863e052ab',8,'7/8','["bob", "cy"]');
INSERT INTO "deal_sets" VALUES(1,'0c8d5bffb0560cdfc7b7',9,'7/9','["ann", "bob"]');
INSERT INTO "deal_sets" VALUES(2,'b7385a7de8727582e66c',1,'8/1','["bob", "ann"]');
CREATE TABLE entrants (
	tournament INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	command TEXT NOT NULL, 
	version TEXT NOT NULL, 
	PRIMARY KEY (tournament, name), 
	FOREIGN KEY(tournament) REFERENCES tournaments (id)
);
INSERT INTO "entrants" VALUES(1,'ann','python ann.py','1.0');
INSERT INTO "entrants" VALUES(1,'bob','./bob','');
INSERT INTO "entrants" VALUES(1,'cy','./cy','');
INSERT INTO "entrants" VALUES(2,'ann','a','');
INSERT INTO "entrants" VALUES(2,'bob','b','');
CREATE TABLE faults (
	tournament INTEGER NOT NULL, 
	"match" TEXT NOT NULL, 
	seat INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	count INTEGER NOT NULL, 
	PRIMARY KEY (tournament, "match", seat, kind), 
	FOREIGN KEY(tournament, "match") REFERENCES matches (tournament, id)
);
INSERT INTO "faults" VALUES(1,'635cdf298d7c8fe58315',1,'timeout',3);
INSERT INTO "faults" VALUES(1,'635cdf298d7c8fe58315',1,'gone',1);
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
	changed INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT known_scope CHECK (scope IN ('bot', 'organiser')), 
	CONSTRAINT a_bot_has_a_name CHECK ((scope = 'bot') = (bot IS NOT NULL)), 
	UNIQUE (token_sha256), 
	FOREIGN KEY(owner) REFERENCES names (name), 
	FOREIGN KEY(bot) REFERENCES names (name), 
	UNIQUE (changed)
);
CREATE TABLE matches (
	tournament INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	deal_set TEXT NOT NULL, 
	rotation INTEGER NOT NULL, 
	bots JSON NOT NULL, 
	status TEXT NOT NULL, 
	scores JSON, 
	places JSON, 
	ending TEXT, 
	hands INTEGER, 
	replay TEXT, 
	evidence TEXT, 
	journal TEXT, 
	PRIMARY KEY (tournament, id), 
	FOREIGN KEY(tournament, deal_set) REFERENCES deal_sets (tournament, id), 
	UNIQUE (tournament, deal_set, rotation), 
	CONSTRAINT known_status CHECK (status IN ('planned', 'finished', 'aborted'))
);
INSERT INTO "matches" VALUES(1,'2489e5d4e50e2cc4eda9','05b05ec5c2057e0852e9',0,'["cy", "bob"]','finished','[-5.0, 5.0]','[2, 1]','completed',4,'2489e5d4e50e2cc4eda9','','run:0');
INSERT INTO "matches" VALUES(1,'c1ac54f8b733f8affb05','05b05ec5c2057e0852e9',1,'["bob", "cy"]','finished','[9.0, -9.0]','[1, 2]','completed',4,'c1ac54f8b733f8affb05','','run:1');
INSERT INTO "matches" VALUES(1,'635cdf298d7c8fe58315','b716931b1cd8c23407b9',0,'["ann", "cy"]','finished','[-7.0, 7.0]','[2, 1]','forfeit',4,'635cdf298d7c8fe58315','','run:2');
INSERT INTO "matches" VALUES(1,'0c4f2e835d835957d64e','b716931b1cd8c23407b9',1,'["cy", "ann"]','finished','[-1.0, 1.0]','[2, 1]','completed',4,'0c4f2e835d835957d64e','','run:3');
INSERT INTO "matches" VALUES(1,'26aef67090462df04b77','04307c71d74b1bc63cfe',0,'["bob", "ann"]','aborted',NULL,NULL,'aborted',0,NULL,'error 0a1b','');
INSERT INTO "matches" VALUES(1,'64e355facb1280e03e80','04307c71d74b1bc63cfe',1,'["ann", "bob"]','finished','[-6.0, 6.0]','[2, 1]','completed',4,'64e355facb1280e03e80','','run:5');
INSERT INTO "matches" VALUES(1,'fd5e4b475baf221f1186','3a358cbb06de30e4dfc4',0,'["bob", "cy"]','finished','[6.0, -6.0]','[1, 2]','completed',4,'fd5e4b475baf221f1186','','run:6');
INSERT INTO "matches" VALUES(1,'9e5c7bd4a0fef1727f63','3a358cbb06de30e4dfc4',1,'["cy", "bob"]','finished','[5.0, -5.0]','[1, 2]','completed',4,'9e5c7bd4a0fef1727f63','','run:7');
INSERT INTO "matches" VALUES(1,'7cbc20b0039c2194d0b2','c320c06ebf495282e77f',0,'["cy", "ann"]','finished','[6.0, -6.0]','[1, 2]','completed',4,'7cbc20b0039c2194d0b2','','run:8');
INSERT INTO "matches" VALUES(1,'e76acf2774e50bd26b47','c320c06ebf495282e77f',1,'["ann", "cy"]','finished','[3.0, -3.0]','[1, 2]','completed',4,'e76acf2774e50bd26b47','','run:9');
INSERT INTO "matches" VALUES(1,'bf70ea0f5375599ca727','f145106fff1b5d873a30',0,'["ann", "bob"]','finished','[-3.0, 3.0]','[2, 1]','completed',4,'bf70ea0f5375599ca727','','run:10');
INSERT INTO "matches" VALUES(1,'a6788e734fe1a9c0dac2','f145106fff1b5d873a30',1,'["bob", "ann"]','finished','[-6.0, 6.0]','[2, 1]','completed',4,'a6788e734fe1a9c0dac2','','run:11');
INSERT INTO "matches" VALUES(1,'68374bb0580874edd120','9819ca4b5292d6b24cce',0,'["cy", "ann"]','finished','[6.0, -6.0]','[1, 2]','completed',4,'68374bb0580874edd120','','run:12');
INSERT INTO "matches" VALUES(1,'aae15bbfe04a5879cf4d','9819ca4b5292d6b24cce',1,'["ann", "cy"]','finished','[-9.0, 9.0]','[2, 1]','completed',4,'aae15bbfe04a5879cf4d','','run:13');
INSERT INTO "matches" VALUES(1,'1ecd2842aaa3e48fb8df','dc1a6dc49fb863e052ab',0,'["bob", "cy"]','finished','[3.0, -3.0]','[1, 2]','completed',4,'1ecd2842aaa3e48fb8df','','run:14');
INSERT INTO "matches" VALUES(1,'fe0f8edf0409dcb4aed6','dc1a6dc49fb863e052ab',1,'["cy", "bob"]','finished','[4.0, -4.0]','[1, 2]','completed',4,'fe0f8edf0409dcb4aed6','','run:15');
INSERT INTO "matches" VALUES(1,'2211ea4ec720ef42b54f','0c8d5bffb0560cdfc7b7',0,'["ann", "bob"]','finished','[-9.0, 9.0]','[2, 1]','completed',4,'2211ea4ec720ef42b54f','','run:16');
INSERT INTO "matches" VALUES(1,'2a7b0f3a985924c21915','0c8d5bffb0560cdfc7b7',1,'["bob", "ann"]','planned',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "matches" VALUES(2,'c6a9072fd636e9b30bc2','b7385a7de8727582e66c',0,'["bob", "ann"]','planned',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "matches" VALUES(2,'f954878f4abe0f30cb7a','b7385a7de8727582e66c',1,'["ann", "bob"]','planned',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE names (
	folded TEXT NOT NULL, 
	name TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	PRIMARY KEY (folded), 
	UNIQUE (name), 
	FOREIGN KEY(owner) REFERENCES names (name)
);
CREATE TABLE tournaments (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	game TEXT NOT NULL, 
	rules_version INTEGER NOT NULL, 
	options JSON NOT NULL, 
	time_control JSON NOT NULL, 
	seats INTEGER NOT NULL, 
	seed TEXT NOT NULL, 
	created TEXT NOT NULL, 
	fair BOOLEAN DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "tournaments" VALUES(1,'autumn','democracy',1,'{"hands": 4}','{"move_ms": 1000, "bank_ms": 0, "increment_ms": 0, "hand_ms": 0, "match_ms": 0}',2,'7','2026-11-20T12:00:00+00:00',0);
INSERT INTO "tournaments" VALUES(2,'winter','jam',1,'{}','{"move_ms": 5, "bank_ms": 0, "increment_ms": 0, "hand_ms": 0, "match_ms": 0}',2,'8','2026-11-20T12:00:00+00:00',1);
COMMIT;
