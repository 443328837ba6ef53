//! Cards as text.

use super::*;

#[test]
fn cards_are_parsed_with_and_without_spaces() {
    assert_eq!(parse("As Kd Jk").unwrap(), ["As", "Kd", "Jk"]);
    assert_eq!(parse("AsKdJk").unwrap(), ["As", "Kd", "Jk"]);
    for invalid in ["A", "1s", "sA", "AsK", "Äs"] {
        assert!(parse(invalid).is_err(), "{invalid}");
    }
}

#[test]
fn cards_are_sorted_by_rank_then_suit_with_the_joker_last() {
    let mut hand = ["Jk", "2s", "Ac", "2c"];
    sort(&mut hand);
    assert_eq!(hand, ["2c", "2s", "Ac", "Jk"]);
}

#[test]
fn the_joker_has_no_rank_and_no_suit() {
    assert_eq!((rank("Jk"), suit("Jk"), rank("Jc")), (None, None, Some(9)));
    assert_eq!(count(&["Jk", "2s", "Ks"], 's'), 2);
}
