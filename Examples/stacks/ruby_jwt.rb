# An API whose tokens the gem jwt checks. Its loader is called again for a key id that it does not know.
require 'jwt'
require 'net/http'
require 'webrick'

keys = nil
loader = lambda do |options|
  keys = nil if options[:kid_not_found]
  keys ||= JSON.parse(Net::HTTP.get(URI(ENV['KEYS'])))
end
options = { algorithms: ['RS256'], jwks: loader, iss: ENV['ISSUER'], verify_iss: true, aud: ENV['AUDIENCE'], verify_aud: true }

server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: ENV['PORT'], AccessLog: [])
server.mount_proc '/' do |request, response|
  claims, = JWT.decode(request['Authorization'].to_s.delete_prefix('Bearer '), nil, true, options)
  response.body = JSON.generate(claims)
rescue JWT::DecodeError => error
  response.status = 401
  response.body = error.message
end
server.start
