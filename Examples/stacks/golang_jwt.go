// An API whose tokens golang-jwt checks. The library reads no key sets, so go-jose does.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/go-jose/go-jose"
	"github.com/golang-jwt/jwt/v5"
	"github.com/golang-jwt/jwt/v5/request"
)

func key(token *jwt.Token) (any, error) {
	answer, err := http.Get(os.Getenv("KEYS"))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var keys jose.JSONWebKeySet
	kid, _ := token.Header["kid"].(string)
	if err := json.NewDecoder(answer.Body).Decode(&keys); err != nil || len(keys.Key(kid)) == 0 {
		return nil, fmt.Errorf("no key %s: %v", kid, err)
	}
	return keys.Key(kid)[0].Key, nil
}

func main() {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(os.Getenv("ISSUER")),
		jwt.WithAudience(os.Getenv("AUDIENCE")), jwt.WithExpirationRequired())
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, err := request.ParseFromRequest(r, request.BearerExtractor{}, key, request.WithParser(parser)); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
