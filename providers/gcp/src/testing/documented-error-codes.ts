/**
 * Names of the reasons in https://developers.google.com/webmaster-tools/v1/errors (global domain), and of the codes in https://cloud.google.com/compute/docs/resource-error and
 * https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-bulk-vm-creation. Left out are reasons about what the driver does not request: redirects that `fetch` follows, uploads and
 * downloads, other forms of answers, API keys and locked domains, and requests without an account.
 */
export const documentedErrorCodes: readonly string[] = `
badRequest badContent invalid invalidHeader invalidParameter invalidQuery parseError required unsupportedMediaType
unauthorized authError expired
dailyLimitExceeded402 quotaExceeded402 user402
forbidden accessNotConfigured accountDeleted accountDisabled accountUnverified concurrentLimitExceeded dailyLimitExceeded insufficientAudience insufficientAuthorizedParty insufficientPermissions
limitExceeded quotaExceeded rateLimitExceeded responseTooLarge servingLimitExceeded sslRequired unknownAuth userRateLimitExceeded variableTermExpiredDailyExceeded variableTermLimitExceeded
notFound httpMethodNotAllowed conflict duplicate deleted conditionNotMet backendRequestTooLarge expectationFailed preconditionRequired
internalError notImplemented unsupportedMethod backendError backendNotConnected notReady
insufficientCapacity QUOTA_EXCEEDED ZONE_RESOURCE_POOL_EXHAUSTED ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS`
  .trim()
  .split(/\s+/);
