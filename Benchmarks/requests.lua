-- Requests of the people whose tokens TOKENS names, a file with one a line; an empty line is a request without a token.
-- METHOD is GET, POST, KEYED (a POST with a key of its own), or MIX: nine GETs to a POST, of everybody in turn. PACED: each connection asks
-- ten times a second whether a list still has the tag that follows its token, and of 289 requests one changes a task: ten a day of who asks
-- every 30 s.
local body = '{"task":"Buy milk and bread, number 1"}'

local function fields(token, method, key)
   return {
      ["Idempotency-Key"] = key,
      ["Authorization"] = token ~= "" and "Bearer " .. token or nil,
      ["Content-Type"] = method == "POST" and "application/json" or nil,
   }
end

local tokens, tags = {}, {}
for line in io.lines(os.getenv("TOKENS")) do
   tokens[#tokens + 1], tags[#tags + 1] = line:match("(%S*) ?(.*)")
end

local method = os.getenv("METHOD")
if method == "KEYED" then
   local started, count = os.time(), 0
   function request()
      count = count + 1
      return wrk.format("POST", nil, fields(tokens[count % #tokens + 1], "POST", started .. "." .. count), body)
   end
elseif method == "PACED" then
   local count = 0
   function delay() return math.random(0, 200) end

   function request()
      count = count + 1
      local number = count % #tokens + 1
      if count % 289 == 0 then
         return wrk.format("PATCH", wrk.path .. "/1", fields(tokens[number], "POST"), '{"task":"Changed ' .. count .. '"}')
      end
      local headers = fields(tokens[number], "GET")
      headers["If-None-Match"] = tags[number]
      return wrk.format("GET", nil, headers)
   end
elseif #tokens == 1 then
   -- The same request every time: wrk makes it once.
   wrk.method, wrk.headers, wrk.body = method, fields(tokens[1], method), method == "POST" and body or nil
else
   local gets, posts, count = {}, {}, 0
   function init()
      for _, token in ipairs(tokens) do
         gets[#gets + 1] = wrk.format("GET", nil, fields(token, "GET"))
         posts[#posts + 1] = wrk.format("POST", nil, fields(token, "POST"), body)
      end
   end

   function request()
      count = count + 1
      local number, turn = count % #tokens + 1, math.floor(count / #tokens)
      -- The turn is added, or the same tenth of the people would do all the adding.
      local adds = method == "POST" or method == "MIX" and (count + turn) % 10 == 0
      return adds and posts[number] or gets[number]
   end
end
