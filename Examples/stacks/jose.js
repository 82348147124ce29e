// An API whose tokens jose checks. Its key set fetches the keys again for a key id that it does not know, every 30 s at most.
const http = require('node:http')
const { createRemoteJWKSet, jwtVerify } = require('jose')

const { PORT, KEYS, ISSUER, AUDIENCE } = process.env
const keys = createRemoteJWKSet(new URL(KEYS))

const server = http.createServer(async (request, response) => {
  try {
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '')
    const { payload } = await jwtVerify(token, keys, { algorithms: ['RS256'], issuer: ISSUER, audience: AUDIENCE })
    response.end(JSON.stringify(payload))
  } catch (error) {
    response.writeHead(401).end(error.message)
  }
})
server.listen(PORT, '127.0.0.1')
