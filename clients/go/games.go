package cardarena

import "slices"

// families has the name of each family's field in oneof game, and the ids of its games.
var families = []struct {
	name  string
	games []string
}{
	{"abstrac", []string{"abstrac", "abstrac_suit", "abstrac_unfettered", "abstrac_fiftytwo"}},
	{"democracy", []string{"democracy"}},
	{"chinese_poker", []string{"chinese_poker"}},
	{"arlington", []string{"arlington"}},
	{"jam", []string{"jam"}},
	{"klaberjass", []string{"klaberjass"}},
	{"sixty_six", []string{"sixty_six"}},
	{"loo", []string{"loo"}},
	{"oklahoma_rummy", []string{"oklahoma_rummy"}},
	{"soko", []string{"soko"}},
	{"pineapple", []string{"pineapple", "crazy_pineapple", "crazy_pineapple_hi_lo"}},
	{"open_face_chinese_poker", []string{"open_face_chinese_poker"}},
	{"eleusis", []string{"eleusis", "eleusis_express"}},
}

// AllGames returns the ids of all games that this SDK supports.
func AllGames() []string {
	var ids []string
	for _, family := range families {
		ids = append(ids, family.games...)
	}
	return ids
}

// GamesOf returns the ids of a family's games. The name is that of its field in oneof game.
func GamesOf(name string) []string {
	for _, family := range families {
		if family.name == name {
			return slices.Clone(family.games)
		}
	}
	return nil
}
