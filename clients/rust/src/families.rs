//! The families of games: variant and number in each `oneof game`, and the ids of their games.

macro_rules! families {
    ($apply:ident) => {
        $apply! {
            (Abstrac, ABSTRAC, 16, abstrac, ["abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo"]),
            (Democracy, DEMOCRACY, 17, democracy, ["democracy"]),
            (ChinesePoker, CHINESE_POKER, 18, chinese_poker, ["chinese_poker"]),
            (Arlington, ARLINGTON, 19, arlington, ["arlington"]),
            (Jam, JAM, 20, jam, ["jam"]),
            (Klaberjass, KLABERJASS, 21, klaberjass, ["klaberjass"]),
            (SixtySix, SIXTY_SIX, 22, sixty_six, ["sixty_six"]),
            (Loo, LOO, 23, loo, ["loo"]),
            (OklahomaRummy, OKLAHOMA_RUMMY, 24, oklahoma_rummy, ["oklahoma_rummy"]),
            (Soko, SOKO, 25, soko, ["soko"]),
            (Pineapple, PINEAPPLE, 26, pineapple, ["pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"]),
            (OpenFaceChinesePoker, OPEN_FACE_CHINESE_POKER, 27, open_face_chinese_poker, ["open_face_chinese_poker"]),
            (Eleusis, ELEUSIS, 28, eleusis, ["eleusis", "eleusis_express"]),
        }
    };
}
pub(crate) use families;

macro_rules! ids {
    ($(($variant:ident, $constant:ident, $number:literal, $module:ident, [$($id:literal),+]),)+) => {
        $(pub(crate) const $constant: &[&str] = &[$($id),+];)+

        /// The ids of all games that this SDK supports.
        pub const ALL: &[&str] = &[$($($id),+),+];

        /// The field numbers of a `oneof game`.
        pub(crate) const FIELDS: &[u32] = &[$($number),+];
    };
}
families!(ids);
