# R's mvtnorm with its default method, and base R's products and factor; float64, like all of R. The line protocol is
# that of protocol.py. Requests are flat JSON objects without blanks, which three lines of regular expressions can
# read.

tell <- function(...) {
  cat(..., "\n", sep = "")
  flush(stdout())
}
quoted <- function(text) {
  text <- gsub("[[:cntrl:]]+", " ", gsub('(["\\\\])', "\\\\\\1", text))
  paste0('"', text, '"')
}

version <- paste0(R.version$major, ".", R.version$minor)
if (!requireNamespace("mvtnorm", quietly = TRUE)) {
  tell('{"absent":', quoted(paste0("there is no package mvtnorm in R ", version)), "}")
  quit(status = 0)
}

field <- function(line, key) {
  found <- regmatches(line, regexec(sprintf('"%s":("([^"]*)"|[^,}]*)', key), line))[[1]]
  if (length(found) == 0 || found[2] == "null") NA else if (startsWith(found[2], '"')) found[3] else found[2]
}
load_square <- function(name, n) {
  matrix(readBin(name, "numeric", n * n, size = 8, endian = "little"), n, n, byrow = TRUE)
}
load_vector <- function(name, n) readBin(name, "numeric", n, size = 8, endian = "little")

prepare <- function(line, id) {
  n <- as.integer(field(line, "dimension"))
  count <- as.integer(field(line, "count"))
  square <- function(name) load_square(paste0(id, "-", name), n)
  vector <- function(name) load_vector(paste0(id, "-", name), n)
  switch(field(line, "suite"),
    "transform-normal" = {
      mean <- vector("mean"); covariance <- square("covariance"); z <- vector("z")
      function() mean + crossprod(chol(covariance), z)
    },
    "transform-normal-factored" = {
      mean <- vector("mean"); factor <- square("factor"); z <- vector("z")
      function() mean + factor %*% z
    },
    "matrix-product" = { a <- square("a"); b <- square("b"); function() a %*% b },
    "matrix-vector" = { a <- square("a"); z <- vector("z"); function() a %*% z },
    "cholesky" = { covariance <- square("covariance"); function() t(chol(covariance)) },
    "normals" = function() {
      values <- rnorm(count * n)
      dim(values) <- c(count, n)
      values
    },
    # rmvnorm keeps no factor: each call makes it anew.
    "sampling" = if (grepl("factor included", field(line, "case"), fixed = TRUE)) {
      mean <- vector("mean"); covariance <- square("covariance")
      function() mvtnorm::rmvnorm(count, mean, covariance)
    }
  )
}

save_result <- function(values, rows, name) {
  values <- if (is.matrix(values)) values else matrix(values)
  if (!is.na(rows) && rows < nrow(values)) values <- values[seq_len(rows), , drop = FALSE]
  writeBin(as.vector(t(values)), name, size = 8, endian = "little")
  length(values)
}

# proc.time() counts milliseconds, Sys.time() less than a microsecond: each timing takes at least a millisecond.
measure <- function(run, milliseconds) {
  now <- function() as.numeric(Sys.time())
  start <- now()
  run()
  warm_up <- now() - start
  # The result was computed before, so this run is not cold: if it outlasts the time asked for, it is not repeated.
  if (1000 * warm_up >= milliseconds) return(1e9 * warm_up)
  start <- now()
  run()
  batch <- max(1, floor(0.001 / max(1e-6, now() - start)))
  times <- c()
  end <- now() + milliseconds / 1000
  while (length(times) == 0 || now() < end) {
    start <- now()
    for (i in seq_len(batch)) run()
    times[length(times) + 1] <- max(1, 1e9 * (now() - start) / batch)
  }
  times
}

runs <- new.env()
answer <- function(line) {
  id <- field(line, "id")
  switch(field(line, "do"),
    prepare = {
      run <- prepare(line, id)
      if (is.null(run)) return('{"offered":false}')
      assign(id, run, envir = runs)
      '{"offered":true}'
    },
    result = {
      length <- save_result(runs[[id]](), as.numeric(field(line, "rows")), paste0(id, "-result"))
      sprintf('{"length":%d,"dtype":"float64"}', length)
    },
    measure = {
      times <- measure(runs[[id]], as.numeric(field(line, "milliseconds")))
      paste0('{"nanoseconds":[', paste(sprintf("%.1f", times), collapse = ","), "]}")
    },
    close = {
      if (exists(id, envir = runs, inherits = FALSE)) rm(list = id, envir = runs)
      '{"closed":true}'
    }
  )
}

set.seed(42)
mvtnorm <- as.character(utils::packageVersion("mvtnorm"))
# The name of the folder says which BLAS it is: the file is often libblas.so.3 for all.
blas <- sub("^.*/([^/]+/[^/]+)$", "\\1", extSoftVersion()[["BLAS"]])
tell(
  '{"about":', quoted(paste0("mvtnorm ", mvtnorm, ", R ", version)), ',"threads":null,"facts":{"r":', quoted(version),
  ',"mvtnorm":', quoted(mvtnorm), ',"dtype":"float64","blas":', quoted(blas), '},"dtypes":["float64"],"offers":{',
  '"transform-normal":["mean","covariance","z"],"transform-normal-factored":["mean","factor","z"],"matrix-product":["a","b"],',
  '"matrix-vector":["a","z"],"cholesky":["covariance"],"sampling":["mean","covariance"],"normals":[]}}'
)
requests <- file("stdin", open = "r")
while (length(line <- readLines(requests, n = 1)) > 0) {
  tell(tryCatch(answer(line), error = function(error) paste0('{"error":', quoted(conditionMessage(error)), "}")))
}
