//! The client of the conformance kit. `clients/conformance/README.md` describes its fixed bot.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use cardarena::{AnyGame, Ask, Bot, BotError, Choice, MatchEnd, Options, Player, v1};
use clap::Parser;

/// The client of the conformance kit.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    options: Options,
    /// How long the bot takes for a move, in milliseconds.
    #[arg(long, default_value_t = 0)]
    sleep_ms: u64,
}

struct FixedBot {
    asked: u32,
    sleep: Duration,
}

impl Bot<AnyGame> for FixedBot {
    fn choose(&mut self, ask: &Ask<AnyGame>) -> Result<Choice<AnyGame>, BotError> {
        self.asked += 1;
        thread::sleep(self.sleep);
        if ask.id() % 1000 == 999 {
            return Err("the fixed bot's mistake".into());
        }
        let note = if ask.id() % 1000 == 998 {
            format!("{:08x}", u32::from_be_bytes(*ask.seed().first_chunk().expect("32 bytes")))
        } else {
            format!("{}{}", self.asked, "\u{1F0A1}".repeat((ask.id() / 1000) as usize))
        };
        Ok(Choice::index((ask.id() % ask.moves.len() as u64) as usize).note(note))
    }

    fn ended(&mut self, end: &MatchEnd<AnyGame>) {
        let ending = match end.message.ending() {
            _ if end.missed() => "missed".to_owned(),
            ending => v1::Ending::as_str_name(&ending).replace("ENDING_", "").to_lowercase(),
        };
        println!("ended {} {ending}", end.game_match.number());
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let sleep = Duration::from_millis(flags.sleep_ms);
    let player = Player::new("fixed", move |game_match| {
        println!("started {}", game_match.number());
        FixedBot { asked: 0, sleep }
    });
    cardarena::run_with(player.version("kit").ask_forced(), flags.options)
}
