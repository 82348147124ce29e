#pragma once

#include <arpa/inet.h>
#include <time.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/conf.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

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

// 1 if OpenSSL's provider finds the public key sound. `key` is borrowed.
static inline int copenssl_public_check(EVP_PKEY *key) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);  // counts a reference on `key`
    int result = context ? EVP_PKEY_public_check(context) : 0;
    EVP_PKEY_CTX_free(context);
    return result;
}

// Builds the public key of a point of a named curve, or NULL if the point is not on the curve. `point` is the uncompressed form of SEC 1, and
// is copied.
static inline EVP_PKEY *copenssl_ec_public_key(const char *curve, const unsigned char *point, size_t count) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    // fromdata copies the parameters, and only reads the curve and the point.
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, count),
        OSSL_PARAM_construct_end(),
    };
    if (context && EVP_PKEY_fromdata_init(context) == 1 && EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

// Sets the padding of an RSA context: RSA_PKCS1_PADDING, or RSA_PKCS1_PSS_PADDING with the mask and the length of the salt that RFC 7518
// section 3.5 demands. Returns 1, also for a `padding` of 0, which other kinds of keys have.
static inline int copenssl_set_padding(EVP_PKEY_CTX *context, const EVP_MD *md, int padding) {
    if (padding == 0) return 1;
    if (EVP_PKEY_CTX_set_rsa_padding(context, padding) != 1) return 0;
    return padding != RSA_PKCS1_PSS_PADDING || (EVP_PKEY_CTX_set_rsa_mgf1_md(context, md) == 1 &&
                                                EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1);
}

// A context that can verify digests of `md` again and again; NULL on failure. `padding` is that of copenssl_set_padding.
// Counts a reference on `key`; `md` is only read for its name.
static inline EVP_PKEY_CTX *copenssl_verifier(EVP_PKEY *key, const EVP_MD *md, int padding) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (context && EVP_PKEY_verify_init(context) == 1 && copenssl_set_padding(context, md, padding) &&
        EVP_PKEY_CTX_set_signature_md(context, md) == 1)
        return context;
    EVP_PKEY_CTX_free(context);
    return NULL;
}

// Writes the DER form of an ECDSA signature, which OpenSSL wants, of the two numbers of equal length that a JWS has. Returns its length; 0
// on failure. `der` has room for `raw_count` + 16 bytes; both are borrowed.
static inline size_t copenssl_ecdsa_der(const unsigned char *raw, size_t raw_count, unsigned char *der) {
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw, (int)(raw_count / 2), NULL);
    BIGNUM *s = BN_bin2bn(raw + raw_count / 2, (int)(raw_count / 2), NULL);
    int count = 0;
    if (signature && r && s && ECDSA_SIG_set0(signature, r, s) == 1) {  // `signature` owns both from now on
        r = s = NULL;
        count = i2d_ECDSA_SIG(signature, &der);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return count > 0 ? (size_t)count : 0;
}

// Writes the two numbers of an ECDSA signature in DER, each with half of `raw_count` bytes; 1 on success. Both are borrowed.
static inline int copenssl_ecdsa_raw(const unsigned char *der, size_t der_count, unsigned char *raw, size_t raw_count) {
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)der_count);
    const int half = (int)(raw_count / 2);
    const int done = signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw, half) == half &&
                     BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw + half, half) == half;
    ECDSA_SIG_free(signature);
    return done;
}

// 1 if `signature` is that of the message by a key of Ed25519, which hashes by itself. Everything is borrowed; `context` is used again.
static inline int copenssl_ed25519_verify(EVP_MD_CTX *context, EVP_PKEY *key, const unsigned char *signature, size_t signature_count,
                                          const unsigned char *message, size_t message_count) {
    return EVP_MD_CTX_reset(context) == 1 && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
           EVP_DigestVerify(context, signature, signature_count, message, message_count) == 1;
}

// A new key of `bits`; EVP_RSA_gen is a macro. NULL on failure.
static inline EVP_PKEY *copenssl_rsa_generate(unsigned int bits) { return EVP_RSA_gen(bits); }

// A new key of a named curve; EVP_EC_gen is a macro. NULL on failure.
static inline EVP_PKEY *copenssl_ec_generate(const char *curve) { return EVP_EC_gen(curve); }

// A new key of Ed25519; NULL on failure.
static inline EVP_PKEY *copenssl_ed25519_generate(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); }

// Writes the coordinates of the public half of a key of a curve, each with `half` bytes; 1 on success. `key` is borrowed.
static inline int copenssl_ec_coordinates(EVP_PKEY *key, unsigned char *point, int half) {
    BIGNUM *x = NULL, *y = NULL;
    const int done = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_X, &x) == 1 &&
                     EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_Y, &y) == 1 && BN_bn2binpad(x, point, half) == half &&
                     BN_bn2binpad(y, point + half, half) == half;
    BN_free(x);
    BN_free(y);
    return done;
}

// The bytes of a memory BIO, which still owns them; BIO_get_mem_data is a macro.
static inline size_t copenssl_bio_bytes(BIO *bio, const char **bytes) {
    char *start = NULL;
    long count = BIO_get_mem_data(bio, &start);
    *bytes = start;
    return count > 0 ? (size_t)count : 0;
}

// BN_num_bytes is a macro.
static inline int copenssl_number_count(const BIGNUM *number) { return BN_num_bytes(number); }

// Signs a message. `md` is NULL for a key that hashes by itself, and `padding` is that of copenssl_set_padding. `count` holds the room and
// becomes the length. Everything is borrowed.
static inline int copenssl_sign(EVP_PKEY *key, const EVP_MD *md, int padding, const unsigned char *message, size_t message_count,
                                unsigned char *signature, size_t *count) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *signer = NULL;  // owned by `context`
    int result = context && EVP_DigestSignInit(context, &signer, md, NULL, key) == 1 && copenssl_set_padding(signer, md, padding) &&
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

// The next certificate of a text in PEM, which the caller frees, other blocks being passed over. NULL at the end, and
// for a certificate that cannot be read, where `is_end` is 0.
static inline X509 *copenssl_certificate_next(BIO *bio, int *is_end) {
    ERR_clear_error();
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    unsigned long error = ERR_peek_last_error();
    *is_end = !certificate && ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    return certificate;
}

static inline int copenssl_passphrase_wanted(char *buffer, int size, int is_writing, void *wanted) {
    (void)buffer, (void)size, (void)is_writing;
    *(int *)wanted = 1;
    return -1;
}

// Reads a private key of any kind, which the caller frees; NULL on failure, `is_encrypted` being 1 if a passphrase is
// missing. `pem` is borrowed: the BIO that keeps it dies here.
static inline EVP_PKEY *copenssl_private_key_read(const char *pem, size_t count, int *is_encrypted) {
    *is_encrypted = 0;
    BIO *bio = BIO_new_mem_buf(pem, (int)count);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, copenssl_passphrase_wanted, is_encrypted) : NULL;
    BIO_free(bio);
    ERR_clear_error();
    return key;
}

// A certificate signed with SHA-256, which the caller frees; NULL on failure. It is self-signed where `issuer` is NULL. `extensions` is a
// section in the form of OpenSSL's configuration files (x509v3_config(5)), without its heading. Everything is borrowed.
static inline X509 *copenssl_certificate_make(EVP_PKEY *key, const char *name, const unsigned char *serial, size_t serial_count,
                                              int64_t not_before, int64_t not_after, const char *extensions, X509 *issuer,
                                              EVP_PKEY *signer) {
    X509 *made = X509_new();
    BIGNUM *number = BN_bin2bn(serial, (int)serial_count, NULL);
    BIO *bio = BIO_new(BIO_s_mem());
    CONF *section = NCONF_new(NULL);
    X509V3_CTX context;
    int done = 0;
    if (made && number && bio && section && X509_set_version(made, X509_VERSION_3) == 1 &&
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made)) != NULL &&
        X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0) == 1 &&
        X509_set_issuer_name(made, X509_get_subject_name(issuer ? issuer : made)) == 1 &&
        ASN1_TIME_set(X509_getm_notBefore(made), (time_t)not_before) != NULL &&
        ASN1_TIME_set(X509_getm_notAfter(made), (time_t)not_after) != NULL && X509_set_pubkey(made, key) == 1 &&
        BIO_printf(bio, "[x]\n%s\n", extensions) > 0 && NCONF_load_bio(section, bio, NULL) == 1) {
        X509V3_set_ctx(&context, issuer ? issuer : made, made, NULL, NULL, 0);
        X509V3_set_nconf(&context, section);
        done = X509V3_EXT_add_nconf(section, &context, "x", made) == 1 && X509_sign(made, signer, EVP_sha256()) > 0;
    }
    NCONF_free(section);
    BIO_free(bio);
    BN_free(number);
    if (done) return made;
    X509_free(made);
    return NULL;
}

// Writes the DNS names and IP addresses of the certificate, a line each; returns 1. A name that is not printable ASCII is left out,
// because it goes to a terminal.
static inline int copenssl_certificate_names(BIO *bio, X509 *certificate) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
        char address[INET6_ADDRSTRLEN];
        if (name->type == GEN_DNS) {
            const unsigned char *text = ASN1_STRING_get0_data(name->d.dNSName);
            int count = ASN1_STRING_length(name->d.dNSName), printable = 0;
            while (printable < count && text[printable] > ' ' && text[printable] < 127) printable++;
            if (count > 0 && printable == count) BIO_printf(bio, "%.*s\n", count, (const char *)text);
        } else if (name->type == GEN_IPADD) {
            int count = ASN1_STRING_length(name->d.iPAddress);
            int family = count == 4 ? AF_INET : count == 16 ? AF_INET6 : AF_UNSPEC;
            const void *bytes = ASN1_STRING_get0_data(name->d.iPAddress);
            if (family != AF_UNSPEC && inet_ntop(family, bytes, address, sizeof address)) BIO_printf(bio, "%s\n", address);
        }
    }
    GENERAL_NAMES_free(names);
    ERR_clear_error();
    return 1;
}

// Seconds since 1970, by UTC; -1 for a date that cannot be read, so that it counts as past. `moment` is borrowed.
static inline long long copenssl_seconds(const ASN1_TIME *moment) {
    struct tm parts;
    return ASN1_TIME_to_tm(moment, &parts) == 1 ? (long long)timegm(&parts) : -1;
}

static inline long long copenssl_not_before(X509 *certificate) {
    return copenssl_seconds(X509_get0_notBefore(certificate));
}

static inline long long copenssl_not_after(X509 *certificate) {
    return copenssl_seconds(X509_get0_notAfter(certificate));
}

// The strength of the certificate's key in bits of security (NIST SP 800-57), 0 if it cannot be read.
static inline int copenssl_certificate_key_strength(X509 *certificate) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);  // the certificate's, not ours to free
    return key ? EVP_PKEY_get_security_bits(key) : 0;
}

// 1 if the certificate's key is of a kind with which servers sign handshakes: RSA, or EC on P-256 or P-384.
static inline int copenssl_certificate_key_is_usual(X509 *certificate) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);  // the certificate's, not ours to free
    char group[32] = "";
    if (!key || EVP_PKEY_is_a(key, "RSA") == 1) return key != NULL;
    return EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
           (strcmp(group, SN_X9_62_prime256v1) == 0 || strcmp(group, SN_secp384r1) == 0);
}

// The strength of the hash under the certificate's signature, in bits of security; 0 if it cannot be told.
static inline int copenssl_signature_strength(X509 *certificate) {
    int bits = 0;
    return X509_get_signature_info(certificate, NULL, NULL, &bits, NULL) == 1 ? bits : 0;
}

// 1 if its extensions let the certificate stand for a TLS server.
static inline int copenssl_is_for_servers(X509 *certificate) {
    return X509_check_purpose(certificate, X509_PURPOSE_SSL_SERVER, 0) == 1;
}
