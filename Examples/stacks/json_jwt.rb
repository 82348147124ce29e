# An API whose tokens the gem json-jwt checks. It checks signatures only, so the API compares the claims.
require 'json/jwt'
require 'net/http'
require 'webrick'

fetch = -> { JSON::JWK::Set.new(JSON.parse(Net::HTTP.get(URI(ENV['KEYS'])))) }
keys = fetch.call

server = WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: ENV['PORT'], AccessLog: [])
server.mount_proc '/' do |request, response|
  token = request['Authorization'].to_s.delete_prefix('Bearer ')
  claims = begin
    JSON::JWT.decode(token, keys, [:RS256])
  rescue JSON::JWK::Set::KidNotFound
    JSON::JWT.decode(token, keys = fetch.call, [:RS256])
  end
  now = Time.now.to_i
  raise JSON::JWT::InvalidFormat unless claims[:iss] == ENV['ISSUER'] && Array(claims[:aud]).include?(ENV['AUDIENCE'])
  raise JSON::JWT::InvalidFormat unless [:exp, :nbf].all? { |name| claims[name].is_a?(Integer) } && claims[:exp] > now && claims[:nbf] <= now

  response.body = JSON.generate(claims)
rescue JSON::JWT::Exception => error
  response.status = 401
  response.body = error.message
end
server.start
