package cards

import (
	"slices"
	"testing"
)

func TestCardsAreParsedAndSorted(t *testing.T) {
	found, err := Parse("As Kd2cJk 2d")
	if err != nil {
		t.Fatal(err)
	}
	Sort(found)
	if want := []string{"2c", "2d", "Kd", "As", "Jk"}; !slices.Equal(found, want) {
		t.Errorf("%v, not %v", found, want)
	}
	if Count(found, 'd') != 2 || Rank("Td") != 8 || Suit("Td") != 1 || Rank(Joker) != -1 {
		t.Error("ranks and suits are wrong")
	}
}

func TestATextThatIsNotACardIsAnError(t *testing.T) {
	for _, text := range []string{"1c", "Ax", "A", "AsK", "jk"} {
		if found, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, found)
		}
	}
}
