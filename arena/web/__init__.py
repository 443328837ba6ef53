"""Pages: what there is to watch, as HTML that is made here and needs nothing else.

    trees     elements as plain values: HTML for the first paint, JSON for the steps after it
    table     a scene as a tree
    words     running text, cards and names as trees
    viewer    a match's page: one hand, one viewer, every step

A tree holds tags and attributes of the lists in `trees`, and text that is escaped where it is
written. No element has a `style` or an event handler, as the pages' policy forbids both.
"""
