-- POST /api/tasks with the same text every time; the token comes with wrk's -H.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"task":"Buy milk and bread, number 1"}'
