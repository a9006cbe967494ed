/** What OpenSSL reports about a certificate that none of the trusted authorities has signed, with the advice that Node adds for other programs. */
const unknownAuthority =
  /(?:unable to get (?:local )?issuer certificate|unable to verify the first certificate|self[- ]signed certificate(?: in certificate chain)?)(?:; if the root CA is installed locally, try running Node\.js with --use-system-ca)?/gi;

/**
 * A message about a server whose certificate is not trusted, in words that name what to change. Other messages stay as they are.
 *
 * @param trusted where the trusted authorities come from, as a noun: `the file ca.pem`
 */
export const explainTlsFailure = (message: string, trusted: string): string =>
  message
    .replaceAll(
      unknownAuthority,
      `no authority of ${trusted} has signed the certificate of the server; add the certificate of its authority there`,
    )
    .replaceAll("certificate has expired", "the certificate of the server or of its authority has expired; renew it");
