# Makes mvrnorm.json: Rscript test/answers/mvrnorm.R > test/answers/mvrnorm.json
# How far the moments of MASS's empirical samples are from the requested ones, relative to the standard deviations.
suppressMessages(library(MASS))
mean <- c(1, -2, 300)
covariance <- matrix(c(4, 2, 0.25, 2, 9, -1, 0.25, -1, 0.25), 3)
sd <- sqrt(diag(covariance))
case <- function(count) {
  set.seed(1)
  x <- mvrnorm(count, mean, covariance, empirical = TRUE)
  sprintf('{"count": %d, "mean": %.3g, "covariance": %.3g}', count, max(abs(colMeans(x) - mean) / sd),
          max(abs(cov(x) - covariance) / outer(sd, sd)))
}
cat(sprintf('{\n"source": "MASS %s, %s: Rscript test/answers/mvrnorm.R",\n', packageVersion("MASS"), R.version.string))
cat('"mean": [1, -2, 300],\n"covariance": [[4, 2, 0.25], [2, 9, -1], [0.25, -1, 0.25]],\n"worst": [\n')
cat(paste(sapply(c(4, 5, 50, 10000), case), collapse = ",\n"), "\n]\n}\n", sep = "")
