// A bot in Kotlin: it plays a random legal move, in any game.
//   kotlinc random.kt -include-runtime -d random.jar && cardarena bridge -- java -jar random.jar
import kotlin.random.Random

val ASK_ID = Regex("\"ask_id\":\"(\\d+)\"")
val SEED = Regex("\"seed\":(\\d+)")
val TEXTS = Regex("\"move_texts\":\\[\"(.*?)\"\\]")

fun main() {
    for (line in generateSequence(::readLine)) {
        if (!line.startsWith("{\"ask\":")) continue
        val id = ASK_ID.find(line)!!.groupValues[1]
        val moves = TEXTS.find(line)!!.groupValues[1].split("\",\"").size
        val seed = SEED.find(line)!!.groupValues[1].toLong()
        println("{\"ask_id\":\"$id\",\"index\":${Random(seed).nextInt(moves)}}")
        System.out.flush()
    }
}
