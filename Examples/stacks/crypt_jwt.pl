#!/usr/bin/perl
# An API whose tokens Crypt::JWT checks, with Mojolicious.
use Mojolicious::Lite -signatures;
use Crypt::JWT 'decode_jwt';

get '/' => sub ($c) {
    my ($token) = ($c->req->headers->authorization // '') =~ /^Bearer (.+)$/;
    my $claims = eval {
        decode_jwt(
            token        => $token,
            kid_keys     => $c->ua->get($ENV{KEYS})->result->json,
            accepted_alg => 'RS256',
            verify_iss   => $ENV{ISSUER},
            verify_aud   => $ENV{AUDIENCE},
            verify_exp   => 1,
            verify_nbf   => 1
        );
    };
    $claims ? $c->render(json => $claims) : $c->render(json => { error => "$@" }, status => 401);
};

app->start('daemon', '-l', "http://127.0.0.1:$ENV{PORT}");
