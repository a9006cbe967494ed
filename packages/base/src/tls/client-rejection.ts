/** Why the certificate of a client was rejected, by the code of OpenSSL; `ca` is the file of trusted authorities. */
export function clientRejection(code: string, ca: string): string {
  switch (code) {
    case "ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE":
      return `it presents no certificate; give it one that an authority of ${ca} has signed`;
    case "CERT_HAS_EXPIRED":
      return "its certificate or that of its authority has expired; renew it";
    case "CERT_NOT_YET_VALID":
      return "its certificate is not valid yet; compare the clocks of both computers";
    case "INVALID_PURPOSE":
      return "its certificate is not for clients; issue one with the usage client auth";
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return `no authority of ${ca} has signed its certificate; add that of its authority to the file, or issue another`;
    default:
      break;
  }
  if (/ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE)/.test(code))
    return `it does not trust the certificate of this server (${code}); give it the authority of that certificate`;
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_HTTP_REQUEST")
    return "it does not use TLS; configure its certificates";
  return `the TLS handshake failed (${code})`;
}
