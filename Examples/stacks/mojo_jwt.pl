#!/usr/bin/perl
# An API whose tokens Mojo::JWT checks. It knows exp and nbf, so iss and aud are compared here.
use Mojolicious::Lite -signatures;
use Mojo::JWT;

get '/' => sub ($c) {
    my ($token) = ($c->req->headers->authorization // '') =~ /^Bearer (.+)$/;
    my $claims = eval {
        my $jwt = Mojo::JWT->new(algorithm => 'RS256')->add_jwkset($c->ua->get($ENV{KEYS})->result->json);
        $jwt->decode($token);
    };
    my $mine = $claims && ($claims->{iss} // '') eq $ENV{ISSUER} && ($claims->{aud} // '') eq $ENV{AUDIENCE};
    $mine ? $c->render(json => $claims) : $c->render(json => { error => "$@" }, status => 401);
};

app->start('daemon', '-l', "http://127.0.0.1:$ENV{PORT}");
