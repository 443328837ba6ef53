-- A bot in Lua: it plays a random legal move, in any game.
--   cardarena bridge -- lua5.4 sample_bots/stdio/random.lua
for line in io.lines() do
  if line:find('^{"ask":') then
    local id = line:match('"ask_id":"(%d+)"')
    math.randomseed(tonumber(line:match('"seed":(%d+)')))
    local texts = line:match('"move_texts":%["(.-)"%]')
    local _, commas = texts:gsub('","', "")
    print(('{"ask_id":"%s","index":%d}'):format(id, math.random(0, commas)))
    io.flush()
  end
end
