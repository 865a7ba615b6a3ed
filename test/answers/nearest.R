# Makes nearest.json: Rscript test/answers/nearest.R > test/answers/nearest.json
library(Matrix)
x <- matrix(c(1, 0.477, 0.644, 0.478, 0.651, 0.826, 0.477, 1, 0.516, 0.233, 0.682, 0.75, 0.644, 0.516, 1, 0.599, 0.581, 0.742,
  0.478, 0.233, 0.599, 1, 0.741, 0.8, 0.651, 0.682, 0.581, 0.741, 1, 0.798, 0.826, 0.75, 0.742, 0.8, 0.798, 1), 6)
y <- matrix(c(2, -1, 0.5, 3, -1, 1, 4, 0, 0.5, 4, 1, -2, 3, 0, -2, 5), 4)
number <- function(value) formatC(value, digits = 17, format = "g", width = 1)
text <- function(m) paste0("[", paste(apply(m, 1, function(row) paste0("[", paste(number(row), collapse = ", "), "]")), collapse = ", "), "]")
corr <- function(m) as.matrix(nearPD(m, corr = TRUE, do2eigen = FALSE, conv.tol = 1e-14, eig.tol = 1e-14, maxit = 10000)$mat)
plain <- function(m) as.matrix(nearPD(m, do2eigen = FALSE, conv.tol = 1e-14, eig.tol = 1e-14, maxit = 10000)$mat)
entry <- function(m) paste0('{ "matrix": ', text(m), ', "nearest": ', text(plain(m)), ', "correlation": ', text(corr(m)), " }")
cat('{\n "source": "Rscript test/answers/nearest.R > test/answers/nearest.json, with nearPD of the R package Matrix',
  as.character(packageVersion("Matrix")), "on R", as.character(getRversion()), '(its own example, and another matrix)",\n')
cat(' "cases": [\n  ', entry(x), ",\n  ", entry(y), "\n ]\n}\n", sep = "")
