import type { HttpClient } from "@azure/core-rest-pipeline";
import type { TokenCredential } from "@azure/identity";
import { fieldOf } from "@millwright/core/driver-kit";
import { proxyErrorCode } from "@millwright/core/egress";

/** Has a credential fail with the failure of the proxy that kept it from Entra ID: the SDK throws that away and says `network_error`. */
export function withProxyFailures(
  inner: HttpClient,
  createCredential: (httpClient: HttpClient) => TokenCredential,
): TokenCredential {
  let failure: unknown;
  const credential = createCredential({
    async sendRequest(request) {
      try {
        return await inner.sendRequest(request);
      } catch (error) {
        if (fieldOf(error, "code") === proxyErrorCode) failure = error;
        throw error;
      }
    },
  });
  return {
    async getToken(scopes, options) {
      failure = undefined;
      try {
        return await credential.getToken(scopes, options);
      } catch (error) {
        throw failure ?? error;
      }
    },
  };
}
