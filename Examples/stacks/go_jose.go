// An API whose tokens go-jose checks.
package main

import (
	"encoding/json"
	"github.com/go-jose/go-jose"
	"github.com/go-jose/go-jose/jwt"
	"net/http"
	"os"
	"strings"
	"time"
)

func check(text string) error {
	token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return err
	}
	answer, err := http.Get(os.Getenv("KEYS"))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	keys, claims := jose.JSONWebKeySet{}, jwt.Claims{}
	if err := json.NewDecoder(answer.Body).Decode(&keys); err != nil {
		return err
	} else if err := token.Claims(keys, &claims); err != nil {
		return err
	}
	return claims.Validate(jwt.Expected{Issuer: os.Getenv("ISSUER"), AnyAudience: jwt.Audience{os.Getenv("AUDIENCE")}, Time: time.Now()})
}

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if err := check(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
