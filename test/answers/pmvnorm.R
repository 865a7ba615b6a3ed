# Makes pmvnorm.json: Rscript test/answers/pmvnorm.R > test/answers/pmvnorm.json
# R's mvtnorm with many points; `error` is its own estimate (or, by Miwa's method, the difference to half of the steps).
library(mvtnorm)
set.seed(7)

numbers <- function(x) paste0("[", paste(ifelse(is.finite(x), sprintf("%.17g", x), ifelse(x > 0, '"Infinity"', '"-Infinity"')), collapse = ", "), "]")
entry <- function(name, mean, sigma, lower, upper, probability, error, df = 0) {
  sprintf('  { "name": "%s", "degreesOfFreedom": %g,\n    "mean": %s,\n    "covariance": %s,\n    "lower": %s,\n    "upper": %s,\n    "probability": %.17g, "error": %.3g }',
          name, df, numbers(mean), numbers(t(sigma)), numbers(lower), numbers(upper), probability, error)
}
many <- GenzBretz(maxpts = 3e6, abseps = 5e-7)
normal <- function(name, mean, sigma, lower, upper) {
  p <- pmvnorm(lower, upper, mean, sigma = sigma, algorithm = many)
  entry(name, mean, sigma, lower, upper, p, attr(p, "error"))
}
miwa <- function(name, sigma, lower, upper) {
  mean <- rep(0, nrow(sigma))
  p <- pmvnorm(lower, upper, mean, sigma = sigma, algorithm = Miwa(steps = 1024))
  half <- pmvnorm(lower, upper, mean, sigma = sigma, algorithm = Miwa(steps = 512))
  entry(name, mean, sigma, lower, upper, p, abs(p - half) + 1e-14)
}
student <- function(name, df, sigma, lower, upper) {
  p <- pmvt(lower, upper, df = df, sigma = sigma, algorithm = many)
  entry(name, rep(0, nrow(sigma)), sigma, lower, upper, p, attr(p, "error"), df)
}
equal <- function(n, r) { s <- matrix(r, n, n); diag(s) <- 1; s }
scattered <- function(n) { x <- matrix(rnorm(n * (n + 2)), n); x %*% t(x) }
hilbert <- function(n) outer(1:n, 1:n, function(i, j) 1 / (i + j - 1))

# The example of ?pmvnorm and ?pmvt, the one of Genz (1992) in R News 1/2 (2001), and Tukey's contrasts of Bretz, Hothorn and Westfall.
genz <- matrix(c(1, 3/5, 1/3, 3/5, 1, 11/15, 1/3, 11/15, 1), 3)
sizes <- c(26, 24, 20, 33, 32)
pairs <- t(combn(5, 2))
contrasts <- matrix(0, 10, 5)
for (i in 1:10) contrasts[i, pairs[i, ]] <- c(1, -1)
tukey <- cov2cor(contrasts %*% diag(1 / sizes) %*% t(contrasts))

all <- c(
  normal("?pmvnorm: n = 5, correlation 0.5", rep(0, 5), equal(5, 0.5), rep(-1, 5), rep(3, 5)),
  normal("Genz 1992", rep(0, 3), genz, rep(-Inf, 3), c(1, 4, 2)),
  miwa("Genz 1992, by Miwa", genz, rep(-Inf, 3), c(1, 4, 2)),
  miwa("four in a chain, by Miwa", 0.7^abs(outer(1:4, 1:4, "-")), c(-1, -Inf, 0, -2), c(1, 0.5, Inf, 0.3)),
  normal("Tukey's contrasts: rank 4 of 10", rep(0, 10), tukey, rep(-2.5, 10), rep(2.5, 10)),
  normal("random, n = 3", c(1, -1, 0.5), scattered(3), c(-1, -2, -3), c(2, 1, Inf)),
  normal("random, n = 8", rnorm(8), scattered(8), rep(-3, 8), runif(8, 0, 5)),
  normal("random, n = 12", rnorm(12), scattered(12), c(rep(-Inf, 6), rep(-4, 6)), runif(12, 1, 6)),
  normal("random, n = 20", rnorm(20), scattered(20), rep(-Inf, 20), runif(20, 3, 9)),
  normal("Hilbert, n = 4", rep(0, 4), hilbert(4), rep(0, 4), rep(Inf, 4)),
  normal("Hilbert, n = 8", rep(0, 8), hilbert(8), rep(-0.5, 8), rep(0.7, 8)),
  student("?pmvt: n = 5, 3 degrees of freedom", 3, equal(5, 0.5), rep(-1, 5), rep(3, 5)),
  student("Cauchy, n = 3", 1, genz, rep(-Inf, 3), c(1, 4, 2)),
  student("Tukey's contrasts, 130 degrees of freedom", 130, tukey, rep(-2.8, 10), rep(2.8, 10)),
  student("random, n = 8, 4 degrees of freedom", 4, scattered(8), rep(-3, 8), runif(8, 0, 5))
)
cat(sprintf('{\n"source": "%s, mvtnorm %s: Rscript test/answers/pmvnorm.R",\n"cases": [\n%s\n]\n}\n', R.version.string, packageVersion("mvtnorm"), paste(all, collapse = ",\n")))
