#!/usr/bin/env bash
# Usage: ARENA_PASSWORD=… PAGES_PASSWORD=… roles.sh
#
# Makes the database of an arena with its two roles, as a superuser that psql connects as (PGHOST, PGUSER and the like):
# arena owns the database; public_pages reads the views that the arena makes for its pages, and nothing else.
set -euo pipefail
: "${ARENA_PASSWORD:?set it to the password of the role arena}" "${PAGES_PASSWORD:?set it to the password of the role public_pages}"
psql --quiet --set=ON_ERROR_STOP=1 --set=arena="$ARENA_PASSWORD" --set=pages="$PAGES_PASSWORD" \
    --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
CREATE ROLE arena LOGIN PASSWORD :'arena';
CREATE ROLE public_pages LOGIN PASSWORD :'pages';
CREATE DATABASE arena OWNER arena TEMPLATE template0 LOCALE 'C' ENCODING 'UTF8';
REVOKE ALL ON DATABASE arena FROM PUBLIC;
GRANT CONNECT ON DATABASE arena TO public_pages;
SQL
