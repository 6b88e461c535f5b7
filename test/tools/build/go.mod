module github.com/quorate/quorate/test/tools/build

go 1.26.0
