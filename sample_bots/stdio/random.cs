// A bot in C#: it plays a random legal move, in any game.
//   mcs random.cs && cardarena bridge -- mono random.exe
using System;
using System.Text.RegularExpressions;

static class RandomBot
{
    static void Main()
    {
        for (string line; (line = Console.ReadLine()) != null;)
        {
            if (!line.StartsWith("{\"ask\":", StringComparison.Ordinal)) continue;
            var id = Regex.Match(line, "\"ask_id\":\"(\\d+)\"").Groups[1].Value;
            var seed = (int)uint.Parse(Regex.Match(line, "\"seed\":(\\d+)").Groups[1].Value);
            var texts = Regex.Match(line, "\"move_texts\":\\[\"(.*?)\"\\]").Groups[1].Value;
            var moves = Regex.Matches(texts, "\",\"").Count + 1;
            Console.WriteLine("{\"ask_id\":\"" + id + "\",\"index\":" + new Random(seed).Next(moves) + "}");
        }
    }
}
