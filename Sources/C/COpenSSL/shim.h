#pragma once

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

// Parameter names come from C: OSSL_PARAM_BLD keeps the pointer of a name until the parameters are used, and a Swift
// string passed as a C string dies with its call.

// Builds a public key; NULL on failure. `n` and `e` are big-endian and copied.
static inline EVP_PKEY *copenssl_rsa_public_key(const unsigned char *n, size_t n_count, const unsigned char *e,
                                                size_t e_count) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    BIGNUM *modulus = BN_bin2bn(n, (int)n_count, NULL);   // copies
    BIGNUM *exponent = BN_bin2bn(e, (int)e_count, NULL);  // copies
    // push_BN keeps `modulus` and `exponent` until to_param, which copies them.
    if (context && builder && modulus && exponent &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1 &&
        (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {  // copies the parameters
        EVP_PKEY_free(key);
        key = NULL;
    }
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(modulus);
    BN_free(exponent);
    EVP_PKEY_CTX_free(context);
    return key;
}

// 1 if the provider finds the public key sound. `key` is borrowed.
static inline int copenssl_public_check(EVP_PKEY *key) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);  // counts a reference on `key`
    int result = context ? EVP_PKEY_public_check(context) : 0;
    EVP_PKEY_CTX_free(context);
    return result;
}

// A context that can verify again and again: RSASSA-PKCS1-v1_5 over digests of `md`; NULL on failure.
// Counts a reference on `key`; `md` is only read for its name.
static inline EVP_PKEY_CTX *copenssl_pkcs1_verifier(EVP_PKEY *key, const EVP_MD *md) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (context && EVP_PKEY_verify_init(context) == 1 &&
        EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1 &&
        EVP_PKEY_CTX_set_signature_md(context, md) == 1)
        return context;
    EVP_PKEY_CTX_free(context);
    return NULL;
}

// A new key of `bits`; EVP_RSA_gen is a macro. NULL on failure.
static inline EVP_PKEY *copenssl_rsa_generate(unsigned int bits) { return EVP_RSA_gen(bits); }

// Reads a private RSA key; NULL on failure. `pem` is borrowed: the BIO that keeps it dies here. The empty passphrase
// (the fourth argument) keeps an encrypted key from asking on the terminal.
static inline EVP_PKEY *copenssl_private_key_read(const char *pem, size_t count) {
    BIO *bio = BIO_new_mem_buf(pem, (int)count);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;
    BIO_free(bio);
    if (key && EVP_PKEY_is_a(key, "RSA") == 1) return key;
    EVP_PKEY_free(key);
    return NULL;
}

// The key as PKCS #8 PEM in a memory BIO that the caller frees; NULL on failure.
static inline BIO *copenssl_private_key_write(EVP_PKEY *key) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1) return bio;
    BIO_free(bio);
    return NULL;
}

// The bytes of a memory BIO, which still owns them; BIO_get_mem_data is a macro.
static inline size_t copenssl_bio_bytes(BIO *bio, const char **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(bio, &start);
    *bytes = start;
    return count > 0 ? (size_t)count : 0;
}

// New big numbers that the caller frees; NULL on failure. The names are C's, see above.
static inline BIGNUM *copenssl_rsa_modulus(EVP_PKEY *key) {
    BIGNUM *number = NULL;
    return EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &number) == 1 ? number : NULL;
}

static inline BIGNUM *copenssl_rsa_exponent(EVP_PKEY *key) {
    BIGNUM *number = NULL;
    return EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &number) == 1 ? number : NULL;
}

// BN_num_bytes is a macro.
static inline int copenssl_number_count(const BIGNUM *number) { return BN_num_bytes(number); }

// Signs with RSASSA-PKCS1-v1_5, the default padding. `count` holds the room and becomes the length. Everything is
// borrowed.
static inline int copenssl_sign(EVP_PKEY *key, const EVP_MD *md, const unsigned char *message, size_t message_count,
                                unsigned char *signature, size_t *count) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int result = context && EVP_DigestSignInit(context, NULL, md, NULL, key) == 1 &&
                 EVP_DigestSign(context, signature, count, message, message_count) == 1;
    EVP_MD_CTX_free(context);
    return result;
}

// The message authentication code of RFC 2104 over SHA-256, 32 bytes; 1 on success. Everything is borrowed.
static inline int copenssl_hmac_sha256(const unsigned char *key, size_t key_count, const unsigned char *message,
                                       size_t message_count, unsigned char *code) {
    size_t count = 0;
    return EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, key_count, message, message_count, code, 32, &count) !=
               NULL &&
           count == 32;
}
