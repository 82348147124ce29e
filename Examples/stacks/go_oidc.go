// An API whose tokens go-oidc checks. Its key set fetches the keys again for a key id that it does not know.
package main

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

func main() {
	keys := oidc.NewRemoteKeySet(context.Background(), os.Getenv("KEYS"))
	verifier := oidc.NewVerifier(os.Getenv("ISSUER"), keys, &oidc.Config{ClientID: os.Getenv("AUDIENCE")})
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if _, err := verifier.Verify(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
