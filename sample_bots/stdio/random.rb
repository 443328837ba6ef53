# A bot in Ruby: it plays a random legal move, in any game.
#   cardarena bridge -- ruby sample_bots/stdio/random.rb
require "json"

$stdout.sync = true
$stdin.each_line do |line|
  next unless (ask = JSON.parse(line)["ask"])

  puts JSON.generate(ask_id: ask["ask_id"], index: Random.new(ask["seed"]).rand(ask["move_texts"].size))
end
