"""The pages of an arena, which `arena web` serves and `arena web export` writes to files.

    app, serve       HTTP: routes, headers, caching, errors; the process
    site             the table of pages
    pages            functions that give the values of each page, which are also its JSON
    templates        the HTML of each page; `rendering` has their functions
    live_pages       pages of matches in play; `event_hub` and `subscribers` have their feeds
    trees            pictures as values: HTML for the first step, JSON for the others
    table, rich_text draw a scene and text as trees; `plots` draws plots

Templates escape all values. The content security policy forbids inline styles, scripts and event
handlers.
"""
