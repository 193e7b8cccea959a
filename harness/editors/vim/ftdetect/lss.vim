autocmd BufNewFile,BufRead *.lss setfiletype lss
