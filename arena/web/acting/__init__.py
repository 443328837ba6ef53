"""The acting process of the site: sign-in, forms and what they change.

It is separate from the process of the read-only pages: it has no data folder and no store, only a channel to the
arena's socket, and makes calls with the session of the person who acts. The process of the pages forwards some paths to
it (`forwarding`), so that both use one port.

- `forwarding`: in the process of the pages, starts this one and forwards requests to it;
- `process`: this process;
- `guard`: who may ask for which path, and what every form is checked for;
- `visits`: cookies, sessions and the tokens of forms;
- `arena_calls`: calls to the arena;
- `account`, `own_bots`, `entering`, `failed_ask`, `comparing`, `webhooks`, `organise`: the pages.
"""
