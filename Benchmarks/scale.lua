-- Requests of people in turn for wrk: PEOPLE names a file with a token a line, METHOD and TARGET are what they ask.
local requests, last = {}, 0

function init()
   local method = os.getenv("METHOD")
   local body = method == "POST" and '{"task":"Buy milk and bread, number 1"}' or nil
   for token in io.lines(os.getenv("PEOPLE")) do
      local headers = {["Authorization"] = "Bearer " .. token, ["Content-Type"] = body and "application/json"}
      requests[#requests + 1] = wrk.format(method, os.getenv("TARGET"), headers, body)
   end
end

function request()
   last = last % #requests + 1
   return requests[last]
end
