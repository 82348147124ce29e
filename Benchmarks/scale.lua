-- Requests of people in turn for wrk: PEOPLE names a file with a token a line, METHOD and TARGET are what they ask. An entity tag after the
-- token goes into If-None-Match. With PAUSE, a connection waits about so many milliseconds between two requests; of CHANGES one is a change.
local requests, changes, last, count = {}, {}, 0, 0
local pause, every = tonumber(os.getenv("PAUSE")), tonumber(os.getenv("CHANGES"))

function init()
   local method = os.getenv("METHOD")
   local body = method == "POST" and '{"task":"Buy milk and bread, number 1"}' or nil
   for line in io.lines(os.getenv("PEOPLE")) do
      local token, tag = line:match("(%S+) ?(%S*)")
      local headers = {["Authorization"] = "Bearer " .. token, ["Content-Type"] = body and "application/json"}
      changes[#requests + 1] = {["Authorization"] = headers.Authorization, ["Content-Type"] = "application/json"}
      headers["If-None-Match"] = tag ~= "" and tag or nil
      requests[#requests + 1] = wrk.format(method, os.getenv("TARGET"), headers, body)
   end
end

if pause then
   function delay() return math.random(0, 2 * pause) end
end

function request()
   last, count = last % #requests + 1, count + 1
   if not every or count % every > 0 then return requests[last] end
   return wrk.format("PATCH", os.getenv("TARGET") .. "/1", changes[last], '{"task":"Changed ' .. count .. '"}')
end
